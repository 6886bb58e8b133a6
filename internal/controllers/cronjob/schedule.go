package cronjob

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// tooMany is how many missed times are worth a warning.
const tooMany = 100

// errNever is of a schedule that can be read and never comes, as on the 31st of February.
// Its words are those that upstream's event says.
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

// times is what a schedule says at a moment.
type times struct {
	due    time.Time // the latest that has come and is to be served; zero if there is none
	next   time.Time // the first to come; zero if there is none
	missed int       // those that came and may still be served, roughly if they are many
}

// timesOf reads the schedule. Times are counted from the last one served, so that @every
// keeps its beat whenever it is looked at. Its error is errNever.
func timesOf(c *batchv1.CronJob, s cron.Schedule, now time.Time) (times, error) {
	from := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		from = c.Status.LastScheduleTime.Time
	}
	var tooLate time.Time // what is not after it is not made up for
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

// leap skips what is long past or too late, after the time first: by whole steps, for
// schedules that keep a beat, and stopping well short, for those that do not. It gives the
// time to go on from, and roughly how many of those skipped are not too late.
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
