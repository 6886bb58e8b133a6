package job_test

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// Pods whose Job no longer counts them are released; pods of a Job managed by another controller are not, even
// after it has finished: that controller may not have counted them yet.
func TestStraysOfOthersAreLeft(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"serviceaccount", "job"}}).Client(t)
	jobs := client.For[*batchv1.Job](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	accounts := client.For[*corev1.ServiceAccount](c).Namespace("default")
	waittest.One(t, accounts, "default", "a service account", func(*corev1.ServiceAccount) bool { return true })

	other := "example.com/other"
	j, err := jobs.Create(t.Context(), newJob("theirs", 1, 1, func(s *batchv1.JobSpec) { s.ManagedBy = &other }))
	must(err)
	tracked := func(name string, owners ...metav1.OwnerReference) {
		t.Helper()
		_, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{batchv1.JobTrackingFinalizer}, OwnerReferences: owners},
			Spec:       j.Spec.Template.Spec,
		})
		must(err)
	}
	tracked("theirs", *metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job")))
	now := metav1.Now()
	j.Status = batchv1.JobStatus{StartTime: &now, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	for _, is := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: is, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	_, err = jobs.UpdateStatus(t.Context(), j)
	must(err)

	// When the next Job is reconciled, the controller has seen this end; and once more strays than it processes at
	// once are released, it has processed the first one.
	_, err = jobs.Create(t.Context(), newJob("next", 1, 1, nil))
	must(err)
	waittest.One(t, jobs, "next", "its pod", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
	const more = 8
	for i := range more {
		tracked(fmt.Sprint("stray-", i))
	}
	waittest.For(t, pods, "strays to be let go", "", func(have map[string]*corev1.Pod) bool {
		for i := range more {
			if p := have[fmt.Sprint("stray-", i)]; p == nil || len(p.Finalizers) > 0 {
				return false
			}
		}
		return true
	})
	if p, err := pods.Get(t.Context(), "theirs"); err != nil || len(p.Finalizers) != 1 {
		t.Errorf("theirs: %v, %v", p.Finalizers, err)
	}
}
