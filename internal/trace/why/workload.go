package why

import "fmt"

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
	a.State, a.Done, a.Want = fmt.Sprintf("has %d of %d replicas ready", have, want), have, want
	if s.at("spec", "paused") == true {
		a.root(s, "its rollout is paused", s.kubectl("rollout", "resume", s.named()))
	}
	if have == want {
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
