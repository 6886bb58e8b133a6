package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTimes(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	seconds := func(n int64) *int64 { return &n }
	zone := "Asia/Tokyo"
	for _, c := range []struct {
		name, schedule, made, last, now string
		deadline                        *int64
		zone                            *string
		due, next                       string
		many                            bool
	}{
		{name: "not yet", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T10:59:59Z", next: "2030-01-01T11:00:00Z"},
		{name: "now", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T11:00:00Z", due: "2030-01-01T11:00:00Z", next: "2030-01-01T12:00:00Z"},
		{name: "served", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", last: "2030-01-01T11:00:00Z", now: "2030-01-01T11:10:00Z", next: "2030-01-01T12:00:00Z"},
		{name: "several missed", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T14:10:00Z", due: "2030-01-01T14:00:00Z", next: "2030-01-01T15:00:00Z"},
		{name: "too late", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T14:10:00Z", deadline: seconds(120), next: "2030-01-01T15:00:00Z"},
		{name: "a year asleep", schedule: "*/5 * * * *", made: "2029-01-01T00:00:00Z", now: "2030-01-01T00:07:00Z", due: "2030-01-01T00:05:00Z", next: "2030-01-01T00:10:00Z", many: true},
		{name: "a year asleep, and most too late", schedule: "*/5 * * * *", made: "2029-01-01T00:00:00Z", now: "2030-01-01T00:07:00Z", deadline: seconds(3600), due: "2030-01-01T00:05:00Z", next: "2030-01-01T00:10:00Z"},
		{name: "a year asleep, and many not too late", schedule: "* * * * *", made: "2029-01-01T00:00:00Z", now: "2030-01-01T00:07:30Z", deadline: seconds(7200), due: "2030-01-01T00:07:00Z", next: "2030-01-01T00:08:00Z", many: true},
		{name: "workdays, on a Sunday", schedule: "30 6-16/4 * * 1-5", made: "2029-10-05T00:00:00Z", now: "2030-01-06T12:00:00Z", due: "2030-01-04T14:30:00Z", next: "2030-01-07T06:30:00Z", many: true},
		{name: "zone", schedule: "0 9 * * *", made: "2030-01-01T00:00:00Z", now: "2030-01-02T00:30:00Z", zone: &zone, due: "2030-01-02T00:00:00Z", next: "2030-01-03T00:00:00Z"},
		{name: "a beat, looked at in between", schedule: "@every 1h", made: "2030-01-01T10:00:07Z", now: "2030-01-01T10:40:00Z", next: "2030-01-01T11:00:07Z"},
		{name: "a beat, kept by deadlines", schedule: "@every 1h", made: "2030-01-01T10:00:07Z", now: "2030-01-01T12:00:10Z", deadline: seconds(20), due: "2030-01-01T12:00:07Z", next: "2030-01-01T13:00:07Z"},
		{name: "a beat, a year asleep", schedule: "@every 7m", made: "2029-01-01T00:00:07Z", now: "2030-01-01T00:00:07Z", due: "2029-12-31T23:55:07Z", next: "2030-01-01T00:02:07Z", many: true},
	} {
		cj := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: c.schedule, StartingDeadlineSeconds: c.deadline, TimeZone: c.zone}}
		cj.CreationTimestamp = metav1.NewTime(at(c.made))
		if c.last != "" {
			cj.Status.LastScheduleTime = &metav1.Time{Time: at(c.last)}
		}
		s, err := parse(cj)
		if err != nil {
			t.Fatal(err)
		}
		got, err := timesOf(cj, s, at(c.now))
		if err != nil || (c.due == "") != got.due.IsZero() || c.due != "" && !got.due.Equal(at(c.due)) || !got.next.Equal(at(c.next)) || (got.missed > tooMany) != c.many {
			t.Errorf("%s: %+v, %v; want due %q, next %q", c.name, got, err, c.due, c.next)
		}
	}
}

func TestJobTellsItsTimeInTheZoneOfTheCronJob(t *testing.T) {
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.FixedZone("here", 2*60*60))
	zone := "Asia/Tokyo"
	for _, c := range []struct {
		zone *string
		want string
	}{{nil, "2030-01-01T10:00:00Z"}, {&zone, "2030-01-01T19:00:00+09:00"}} {
		j := build(&batchv1.CronJob{Spec: batchv1.CronJobSpec{TimeZone: c.zone}}, at)
		if got := j.Annotations[scheduledAnnotation]; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
