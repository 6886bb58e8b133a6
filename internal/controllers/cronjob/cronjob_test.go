package cronjob_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A schedule without any time is valid, so the server accepts it; an event tells the user that it never runs.
func TestScheduleThatNeverComes(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"cronjob"}}).Client(t)
	if _, err := client.For[*batchv1.CronJob](c).Namespace("default").Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "never"},
		Spec: batchv1.CronJobSpec{Schedule: "59 23 31 2 *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}},
	}); err != nil {
		t.Fatal(err)
	}
	events := client.For[*corev1.Event](c).Namespace("default")
	waittest.For(t, events, "the warning", "", func(have map[string]*corev1.Event) bool {
		for _, e := range have {
			if e.Reason == "InvalidSchedule" && e.Type == corev1.EventTypeWarning && e.InvolvedObject.Name == "never" {
				if want := "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second"; e.Message != want {
					t.Errorf("%q, want %q", e.Message, want)
				}
				return true
			}
		}
		return false
	})
}
