package why

import "fmt"

// workload counts missing replicas.
func (a *Explanation) workload(s *Subject) {
	want, made, have := s.replicas()
	a.State, a.Done, a.Want = fmt.Sprintf("has %d of %d replicas ready", have, want), have, want
	if s.at("spec", "paused") == true {
		a.root(s, "its rollout is paused", s.kubectl("rollout", "resume", s.named()))
	}
	if a.rollout(s, want, made); have == want {
		return
	}
	a.Waits = true
	switch {
	case made < want:
		a.pending(s, fmt.Sprintf("%d of %d replicas are created", made, want))
	case made > want:
		a.pending(s, fmt.Sprintf("%d replicas exist, %d of them are to be deleted", made, made-want))
	}
}

// replicas are the numbers of replicas of a workload that are wanted, exist, and are ready.
func (s *Subject) replicas() (want, made, ready int64) {
	if s.Kind == "DaemonSet" {
		return s.number("status", "desiredNumberScheduled"), s.number("status", "currentNumberScheduled"), s.number("status", "numberReady")
	}
	want = 1
	if n, ok := s.at("spec", "replicas").(float64); ok {
		want = int64(n)
	}
	return want, s.number("status", "replicas"), s.number("status", "readyReplicas")
}

// rollout counts the replicas that do not have the current template yet, as kubectl rollout status does. Replicas with
// the former one may be ready all the while.
func (a *Explanation) rollout(s *Subject, want, made int64) {
	updated, stay := s.number("status", "updatedReplicas"), int64(0)
	switch {
	case s.Kind == "Deployment":
	case s.Kind == "StatefulSet" && s.text("spec", "updateStrategy", "type") != "OnDelete":
		stay = s.number("spec", "updateStrategy", "rollingUpdate", "partition")
	case s.Kind == "DaemonSet" && s.text("spec", "updateStrategy", "type") != "OnDelete":
		updated = s.number("status", "updatedNumberScheduled")
	default:
		return
	}
	old := made - updated - stay
	switch {
	case updated < min(want, made)-stay:
		a.pending(s, fmt.Sprintf("%d of %d replicas have the current template", updated, want-stay))
	case s.Kind == "Deployment" && made >= want && old > 0:
		a.pending(s, fmt.Sprintf("%d old replicas stay until the new ones are available", old))
	default:
		return
	}
	a.Waits = true
	a.Done = max(0, a.Done-old) // as if all the old ones were ready
}

// job describes a job's progress.
func (a *Explanation) job(s *Subject) {
	done, failed, active := s.number("status", "succeeded"), s.number("status", "failed"), s.number("status", "active")
	want := "any number of"
	if n, ok := s.at("spec", "completions").(float64); ok {
		want, a.Done, a.Want = fmt.Sprint(int64(n)), done, int64(n)
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
		a.pending(s, "it is suspended: spec.suspend is true")
	case active > 0:
		a.pending(s, fmt.Sprintf("%d of its pods are active", active))
	}
	if failed > 0 {
		limit := int64(6)
		if n, ok := s.at("spec", "backoffLimit").(float64); ok {
			limit = int64(n)
		}
		a.problem(s, fmt.Sprintf("%d of its pods have failed; the Job fails after more than %d (backoffLimit)", failed, limit), s.kubectl("logs", s.named()))
	}
}

// cron describes a cron job's last job.
func (a *Explanation) cron(s *Subject) {
	a.State = fmt.Sprintf("creates a Job at %q", s.text("spec", "schedule"))
	if last := s.text("status", "lastScheduleTime"); last != "" {
		a.State += ", last at " + last
	} else {
		a.Reasons = append(a.Reasons, "it has not been due since its creation")
	}
	if s.at("spec", "suspend") == true {
		a.Reasons = append(a.Reasons, "it is suspended: spec.suspend is true")
	}
}
