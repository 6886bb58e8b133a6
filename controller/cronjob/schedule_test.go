package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLastDue(t *testing.T) {
	at := func(s string) time.Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	deadline := int64(120)
	zone := "Asia/Tokyo"
	for _, c := range []struct {
		name, schedule, made, last, now string
		deadline                        *int64
		zone                            *string
		due                             string
		many                            bool
	}{
		{name: "not yet", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T10:59:59Z"},
		{name: "now", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T11:00:00Z", due: "2030-01-01T11:00:00Z"},
		{name: "served", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", last: "2030-01-01T11:00:00Z", now: "2030-01-01T11:10:00Z"},
		{name: "several missed", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T14:10:00Z", due: "2030-01-01T14:00:00Z"},
		{name: "too late", schedule: "0 * * * *", made: "2030-01-01T10:30:00Z", now: "2030-01-01T14:10:00Z", deadline: &deadline},
		{name: "a year asleep", schedule: "*/5 * * * *", made: "2029-01-01T00:00:00Z", now: "2030-01-01T00:07:00Z", due: "2030-01-01T00:05:00Z", many: true},
		{name: "zone", schedule: "0 9 * * *", made: "2030-01-01T00:00:00Z", now: "2030-01-02T00:30:00Z", zone: &zone, due: "2030-01-02T00:00:00Z"},
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
		due, missed := lastDue(cj, s, at(c.now))
		if (c.due == "") != due.IsZero() || c.due != "" && !due.Equal(at(c.due)) || (missed > tooMany) != c.many {
			t.Errorf("%s: due %v, missed %d; want %q", c.name, due, missed, c.due)
		}
	}
}
