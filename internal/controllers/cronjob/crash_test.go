package cronjob_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/testenv"
	"fairlead.dev/trace"
)

// If a controller is killed between creating a Job and writing the status, its successor records the Job's time,
// and deletes the expired Job only after that, so that a second kill in between starts no duplicate either.
func TestKilledBetweenJobAndStatus(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"serviceaccount"}})
	c, ctx := env.Client(t), t.Context()
	crons, jobs := client.For[*batchv1.CronJob](c).Namespace("default"), client.For[*batchv1.Job](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	template := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
	// Each New Year's day; the Job of the last one was created but not recorded.
	due := time.Date(time.Now().UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	for name, over := range map[string]bool{"over": true, "runs": false} {
		cj, err := crons.Create(ctx, &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", TimeZone: ptr.To("Etc/UTC"), SuccessfulJobsHistoryLimit: ptr.To[int32](0), JobTemplate: template}})
		must(err)
		cj.Status.LastScheduleTime = &metav1.Time{Time: due.AddDate(-1, 0, 0)}
		cj, err = crons.UpdateStatus(ctx, cj)
		must(err)
		j, err := jobs.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Name:            fmt.Sprintf("%s-%d", name, due.Unix()/60),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cj, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		}, Spec: template.Spec})
		must(err)
		if over {
			now := metav1.Now()
			j.Status = batchv1.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
			for _, is := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
				j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: is, Status: corev1.ConditionTrue, LastTransitionTime: now})
			}
			_, err := jobs.UpdateStatus(ctx, j)
			must(err)
		}
	}
	w, err := jobs.Watch(ctx, metav1.ListOptions{})
	must(err)
	defer w.Stop()

	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- controlplane.RunControllers(running, env.Config(), controlplane.ControllerOptions{List: []string{"cronjob"}}, controlplane.Apart{})
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	told := func(name string) *batchv1.CronJob {
		t.Helper()
		return waittest.One(t, crons, name, name+" told as served", func(cj *batchv1.CronJob) bool {
			return cj.Status.LastScheduleTime != nil && cj.Status.LastScheduleTime.Time.Equal(due)
		})
	}
	if cj := told("runs"); len(cj.Status.Active) != 1 {
		t.Errorf("active: %v", cj.Status.Active)
	}
	over := told("over")
	if len(over.Status.Active) != 0 || over.Status.LastSuccessfulTime == nil {
		t.Errorf("status: %v", over.Status)
	}
	for e, err := range w.Events(ctx) {
		must(err)
		if e.Type != watch.Deleted {
			continue
		}
		if name := fmt.Sprintf("over-%d", due.Unix()/60); e.Object.Name != name {
			t.Fatalf("%s was deleted", e.Object.Name)
		}
		if told, gone := trace.Revision(over.ResourceVersion), trace.Revision(e.Object.ResourceVersion); told > gone {
			t.Errorf("the Job was deleted at %d, its time told as served at %d", gone, told)
		}
		break
	}
}
