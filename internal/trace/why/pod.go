package why

import "fmt"

// pod explains why a pod does not run.
func (a *Explanation) pod(s *Subject) {
	phase := s.text("status", "phase")
	a.State = "is " + phase
	a.Waits = phase == "Pending"
	if phase == "Failed" {
		a.Waits = len(s.list("metadata", "ownerReferences")) == 0 // no controller replaces it
		a.problem(s, because(s.text("status", "reason"), s.text("status", "message")), s.kubectl("logs", s.Name))
	}
	if s.text("spec", "nodeName") == "" && a.Waits {
		a.unscheduled(s)
		return
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range s.list("status", list) {
			a.container(s, c, phase == "Running" && list == "containerStatuses")
		}
	}
	if a.Waits && len(s.list("status", "containerStatuses")) == 0 {
		text := fmt.Sprintf("it is assigned to node %s, whose kubelet has not reported a status for it yet", s.text("spec", "nodeName"))
		if s.young("metadata", "creationTimestamp") {
			a.pending(s, text)
		} else {
			a.problem(s, text, "look at its node: fairlead why node/"+s.text("spec", "nodeName"))
		}
	}
}

// container explains the state of a container, which is to be ready if serves is set.
func (a *Explanation) container(s *Subject, c map[string]any, serves bool) {
	name := str(c["name"])
	state, _ := c["state"].(map[string]any)
	waiting, _ := state["waiting"].(map[string]any)
	ended, _ := state["terminated"].(map[string]any)
	running, _ := state["running"].(map[string]any)
	switch {
	case waiting != nil:
		a.Waits = true
		reason, message := str(waiting["reason"]), str(waiting["message"])
		text := fmt.Sprintf("container %s waits: %s", name, because(reason, message))
		if !starting[reason] {
			a.problem(s, text, suggest(s, reason, message, name))
		} else {
			if e := s.warning(); e != nil { // only an Event has the reason
				a.problem(s, because(e.Reason, e.Message), suggest(s, e.Reason, e.Message, name))
			}
			a.pending(s, text)
		}
		last, _ := c["lastState"].(map[string]any)
		if over, _ := last["terminated"].(map[string]any); over != nil {
			a.problem(s, fmt.Sprintf("container %s last %s", name, exit(c, over)), s.kubectl("logs", s.Name, "-c", name, "--previous"))
		}
	case ended != nil && num(ended["exitCode"]) != 0:
		a.Waits = a.Waits || serves
		a.problem(s, fmt.Sprintf("container %s %s", name, exit(c, ended)), s.kubectl("logs", s.Name, "-c", name))
	case serves && running != nil && c["ready"] != true:
		a.Waits = true
		text := fmt.Sprintf("container %s is running and not ready", name)
		if e := s.warning(); e != nil {
			text += ": " + because(e.Reason, e.Message)
		}
		if started := (&Subject{Object: running}); started.young("startedAt") {
			a.pending(s, text)
		} else {
			a.problem(s, text, "look at its readiness probe: "+s.kubectl("describe", s.named()))
		}
	}
}

// exit describes the end of a container, with the number of its restarts.
func exit(c, ended map[string]any) string {
	text := fmt.Sprintf("exited with code %d: %s", num(ended["exitCode"]), because(str(ended["reason"]), str(ended["message"])))
	if n := num(c["restartCount"]); n > 0 {
		text += fmt.Sprintf("; it was restarted %d times", n)
	}
	return text
}

// starting are the reasons of a container that has not been tried yet.
var starting = map[string]bool{"ContainerCreating": true, "PodInitializing": true}

// warning is the last Warning about a subject, or nil.
func (s *Subject) warning() *Note {
	for i := len(s.Events) - 1; i >= 0; i-- {
		if e := &s.Events[i]; e.Type == "Warning" {
			return e
		}
	}
	return nil
}

// unscheduled explains why a pod is not assigned to a node.
func (a *Explanation) unscheduled(s *Subject) {
	scheduler := s.text("spec", "schedulerName")
	a.State = "is Pending, not assigned to a node"
	for _, g := range s.list("spec", "schedulingGates") {
		a.problem(s, fmt.Sprintf("scheduling gate %s blocks its scheduling", str(g["name"])), "the program that set the gate has to remove it")
	}
	if c := s.condition("PodScheduled"); c != nil {
		message := str(c["message"])
		a.problem(s, fmt.Sprintf("%s reported: %s", scheduler, because(str(c["reason"]), message)), suggest(s, str(c["reason"]), message))
	} else if f := s.hold(); f != nil {
		a.problem(s, fmt.Sprintf("%s has not reported a result: injected fault %d holds the pod back from %s", scheduler, f.Fault, faultTarget(*f)),
			fmt.Sprintf("fairlead fault remove %d", f.Fault))
	} else {
		text := fmt.Sprintf("%s has not reported a result: it is not running, is busy, or has not received the pod", scheduler)
		if s.young("metadata", "creationTimestamp") {
			a.pending(s, text)
		} else {
			a.problem(s, text, "start a scheduler of that name: fairlead up has one, fairlead scheduler runs one")
		}
	}
	for _, p := range s.Parts {
		if p.Kind == "PersistentVolumeClaim" && p.Object != nil && p.text("status", "phase") != "Bound" {
			a.pending(s, fmt.Sprintf("its PersistentVolumeClaim %s is %s", p.Name, p.text("status", "phase")))
		}
	}
}
