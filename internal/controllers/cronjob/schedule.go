package cronjob

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// tooMany is the number of missed times from which on a warning is sent.
const tooMany = 100

// errNever is returned for a valid schedule without any time, such as the 31st of February. Its wording is that of
// upstream's event.
var errNever = errors.New("time difference between two schedules is less than 1 second")

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

// times is a schedule's state at a moment.
type times struct {
	due    time.Time // the latest time to be served, or zero
	next   time.Time // the next time, or zero
	missed int       // the number of times not served; an estimate if there are many
}

// timesOf evaluates the schedule. Times are counted from the last one served, so that @every keeps its period. Its
// error is errNever.
func timesOf(c *batchv1.CronJob, s cron.Schedule, now time.Time) (times, error) {
	from := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		from = c.Status.LastScheduleTime.Time
	}
	var tooLate time.Time // times up to it are not made up for
	if d := c.Spec.StartingDeadlineSeconds; d != nil {
		tooLate = now.Add(-time.Duration(*d) * time.Second)
	}
	t := times{next: s.Next(from)}
	if t.next.IsZero() {
		return t, errNever
	}
	if !t.next.After(now) {
		t.next, t.missed = leap(s, t.next, now, tooLate)
	}
	for ; !t.next.IsZero() && !t.next.After(now); t.next = s.Next(t.next) {
		if t.next.After(tooLate) {
			t.due = t.next
			t.missed++
		}
	}
	return t, nil
}

// leap skips times that are long past or too late, after the time first: by whole steps, which is exact for
// periodic schedules, and stopping well short for others. It returns the time to go on from, and an estimate of the
// skipped times that are not too late.
func leap(s cron.Schedule, first, now, tooLate time.Time) (time.Time, int) {
	step := s.Next(first).Sub(first)
	if step <= 0 {
		return first, 0
	}
	to := tooLate
	if now.Sub(first)/step > tooMany {
		if short := now.Add(-max(2*step, 48*time.Hour)); short.After(to) {
			to = short
		}
	}
	skip := to.Sub(first).Truncate(step)
	if skip <= 0 {
		return first, 0
	}
	next := s.Next(first.Add(skip))
	if next.IsZero() || next.After(now) {
		return first, 0
	}
	since := first
	if tooLate.After(since) {
		since = tooLate
	}
	return next, int(max(0, next.Sub(since)) / step)
}
