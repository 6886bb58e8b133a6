package cronjob

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// tooMany is how many missed times are worth a warning.
const tooMany = 100

func parse(c *batchv1.CronJob) (cron.Schedule, error) {
	s := c.Spec.Schedule
	if c.Spec.TimeZone != nil {
		if _, err := time.LoadLocation(*c.Spec.TimeZone); err != nil {
			return nil, err
		}
		s = fmt.Sprintf("TZ=%s %s", *c.Spec.TimeZone, s)
	}
	return cron.ParseStandard(s)
}

// lastDue finds the latest time of the schedule that is due and not served yet;
// zero if there is none. missed counts those due, roughly if they are many.
func lastDue(c *batchv1.CronJob, s cron.Schedule, now time.Time) (due time.Time, missed int) {
	from := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		from = c.Status.LastScheduleTime.Time
	}
	if d := c.Spec.StartingDeadlineSeconds; d != nil {
		if bound := now.Add(-time.Duration(*d) * time.Second); bound.After(from) {
			from = bound
		}
	}
	next := s.Next(from)
	if next.IsZero() || next.After(now) {
		return time.Time{}, 0
	}
	missed = 1
	if second := s.Next(next); !second.IsZero() {
		// Leap over what is long past; schedules are not even, so stop well short.
		if n := int(now.Sub(next) / second.Sub(next)); n > tooMany {
			missed = n - 2
			if leapt := s.Next(now.Add(-max(2*second.Sub(next), 48*time.Hour))); leapt.After(next) && !leapt.After(now) {
				next = leapt
			}
		}
	}
	for due = next; ; missed++ {
		next = s.Next(due)
		if next.IsZero() || next.After(now) {
			return due, missed
		}
		due = next
	}
}
