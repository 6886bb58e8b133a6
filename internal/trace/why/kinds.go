package why

import "fmt"

// pod explains why a pod does not run.
func (a *Explanation) pod(s *Subject) {
	phase := s.text("status", "phase")
	a.State = "is " + phase
	a.Waits = phase == "Pending"
	if phase == "Failed" {
		a.add(because(s.text("status", "reason"), s.text("status", "message")))
	}
	if s.text("spec", "nodeName") == "" && a.Waits {
		a.unscheduled(s)
		return
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range s.list("status", list) {
			state, _ := c["state"].(map[string]any)
			waiting, _ := state["waiting"].(map[string]any)
			ended, _ := state["terminated"].(map[string]any)
			switch {
			case waiting != nil:
				a.Waits = true
				if starting[str(waiting["reason"])] {
					a.add(s.warning()) // only an Event has the reason
				}
				a.add(fmt.Sprintf("container %s waits: %s", str(c["name"]), because(str(waiting["reason"]), str(waiting["message"]))))
				last, _ := c["lastState"].(map[string]any)
				if over, _ := last["terminated"].(map[string]any); over != nil {
					a.add(fmt.Sprintf("container %s last exited with code %d: %s; it was restarted %d times", str(c["name"]),
						num(over["exitCode"]), because(str(over["reason"]), str(over["message"])), num(c["restartCount"])))
				}
			case ended != nil && num(ended["exitCode"]) != 0:
				a.add(fmt.Sprintf("container %s exited with code %d: %s", str(c["name"]), num(ended["exitCode"]), because(str(ended["reason"]), str(ended["message"]))))
			case phase == "Running" && state["running"] != nil && c["ready"] != true && list == "containerStatuses":
				a.Waits = true
				a.add(fmt.Sprintf("container %s is running and not ready", str(c["name"])))
			}
		}
	}
	if a.Waits && len(s.list("status", "containerStatuses")) == 0 {
		a.add(fmt.Sprintf("it is assigned to node %s, whose kubelet has not reported a status for it yet", s.text("spec", "nodeName")))
	}
}

// starting are the reasons of a container that has not been tried yet.
var starting = map[string]bool{"ContainerCreating": true, "PodInitializing": true}

// warning is the last Warning event about a subject, or "".
func (s *Subject) warning() string {
	for i := len(s.Events) - 1; i >= 0; i-- {
		if e := s.Events[i]; e.Type == "Warning" {
			return because(e.Reason, e.Message)
		}
	}
	return ""
}

func (a *Explanation) unscheduled(s *Subject) {
	scheduler := s.text("spec", "schedulerName")
	a.State = "is Pending, not assigned to a node"
	for _, g := range s.list("spec", "schedulingGates") {
		a.add(fmt.Sprintf("scheduling gate %s blocks its scheduling", str(g["name"])))
	}
	if c := s.condition("PodScheduled"); c != nil {
		a.add(fmt.Sprintf("%s reported: %s", scheduler, because(str(c["reason"]), str(c["message"]))))
	} else {
		a.add(fmt.Sprintf("%s has not reported a result: it is not running, is busy, or has not received the pod", scheduler))
	}
	for _, p := range s.Parts {
		switch {
		case p.Object == nil:
			a.add(fmt.Sprintf("its %s %s does not exist", p.Kind, p.Name))
		case p.Kind == "PersistentVolumeClaim" && p.text("status", "phase") != "Bound":
			a.add(fmt.Sprintf("its PersistentVolumeClaim %s is %s", p.Name, p.text("status", "phase")))
		}
	}
}

// claim explains why a claim is not bound.
func (a *Explanation) claim(s *Subject) {
	phase := s.text("status", "phase")
	a.State = "is " + phase
	if phase == "Bound" {
		a.State += " to " + s.text("spec", "volumeName")
		return
	}
	a.Waits = true
	class, named := s.at("spec", "storageClassName").(string)
	switch {
	case !named:
		a.add("it has no storage class, and there is no default one")
	case class == "":
		a.add(`it requests a volume without a class (storageClassName is ""): an administrator has to create it`)
	default:
		a.add("it waits for a volume of class " + class)
	}
	if phase == "Lost" {
		a.add("its volume " + s.text("spec", "volumeName") + " does not exist")
	}
}

// workload counts missing replicas.
func (a *Explanation) workload(s *Subject) {
	want, have := int64(1), s.number("status", "readyReplicas")
	if n, ok := s.at("spec", "replicas").(float64); ok {
		want = int64(n)
	}
	made := s.number("status", "replicas")
	if s.Kind == "DaemonSet" {
		want, have, made = s.number("status", "desiredNumberScheduled"), s.number("status", "numberReady"), s.number("status", "currentNumberScheduled")
	}
	a.State = fmt.Sprintf("has %d of %d replicas ready", have, want)
	if s.at("spec", "paused") == true {
		a.add("its rollout is paused")
	}
	if have == want {
		return
	}
	a.Waits = true
	switch {
	case made < want:
		a.add(fmt.Sprintf("%d of %d replicas are created", made, want))
	case made > want:
		a.add(fmt.Sprintf("%d replicas exist, %d of them are to be deleted", made, made-want))
	}
}

// job describes a job's progress.
func (a *Explanation) job(s *Subject) {
	done, failed, active := s.number("status", "succeeded"), s.number("status", "failed"), s.number("status", "active")
	want := "any number of"
	if n, ok := s.at("spec", "completions").(float64); ok {
		want = fmt.Sprint(int64(n))
	}
	a.State = fmt.Sprintf("has %d of %s pods completed, %d active, %d failed", done, want, active, failed)
	if c := s.condition("Complete"); c != nil && str(c["status"]) == "True" {
		return
	}
	if c := s.condition("Failed"); c != nil && str(c["status"]) == "True" {
		return // its reason is the condition's
	}
	a.Waits = true
	switch {
	case s.at("spec", "suspend") == true:
		a.add("it is suspended: spec.suspend is true")
	case active > 0:
		a.add(fmt.Sprintf("%d of its pods are active", active))
	}
	if failed > 0 {
		limit := int64(6)
		if n, ok := s.at("spec", "backoffLimit").(float64); ok {
			limit = int64(n)
		}
		a.add(fmt.Sprintf("%d of its pods have failed; the Job fails after more than %d (backoffLimit)", failed, limit))
	}
}

// cron describes a cron job's last job.
func (a *Explanation) cron(s *Subject) {
	a.State = fmt.Sprintf("creates a Job at %q", s.text("spec", "schedule"))
	if last := s.text("status", "lastScheduleTime"); last != "" {
		a.State += ", last at " + last
	} else {
		a.add("it has not been due since its creation")
	}
	if s.at("spec", "suspend") == true {
		a.add("it is suspended: spec.suspend is true")
	}
}
