package job_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func newJob(name string, parallelism, completions int32, edit func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: batchv1.JobSpec{
			Parallelism: &parallelism,
			Completions: &completions,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "c", Image: "i"}},
			}},
		},
	}
	if edit != nil {
		edit(&j.Spec)
	}
	return j
}

func has(j *batchv1.Job, t batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == t && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func complete(j *batchv1.Job) bool { return has(j, batchv1.JobComplete) }

func TestJobs(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	jobs := client.For[*batchv1.Job](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	create := func(t *testing.T, j *batchv1.Job) {
		t.Helper()
		if _, err := jobs.Create(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("completions", func(t *testing.T) {
		create(t, newJob("plain", 3, 7, nil))
		j := waittest.One(t, jobs, "plain", "completion", complete)
		if j.Status.Succeeded != 7 || j.Status.Failed != 0 || !has(j, batchv1.JobSuccessCriteriaMet) || j.Status.CompletionTime == nil {
			t.Errorf("%+v", j.Status)
		}
		waittest.For(t, pods, "pods free to go", "batch.kubernetes.io/job-name=plain", func(have map[string]*corev1.Pod) bool {
			for _, p := range have {
				if len(p.Finalizers) > 0 {
					return false
				}
			}
			return len(have) == 7
		})
	})

	t.Run("indexed", func(t *testing.T) {
		indexed := batchv1.IndexedCompletion
		create(t, newJob("indexed", 2, 5, func(s *batchv1.JobSpec) { s.CompletionMode = &indexed }))
		j := waittest.One(t, jobs, "indexed", "completion", complete)
		if j.Status.CompletedIndexes != "0-4" || j.Status.Succeeded != 5 {
			t.Errorf("%+v", j.Status)
		}
	})

	t.Run("suspended, then resumed, then deleted", func(t *testing.T) {
		yes := true
		create(t, newJob("sleeper", 2, 2, func(s *batchv1.JobSpec) { s.Suspend = &yes }))
		waittest.One(t, jobs, "sleeper", "suspension", func(j *batchv1.Job) bool { return has(j, batchv1.JobSuspended) && j.Status.StartTime == nil })
		if _, err := jobs.Patch(t.Context(), "sleeper", client.MergePatch(map[string]any{"spec": map[string]any{"suspend": false}})); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, jobs, "sleeper", "completion", complete)
		background := metav1.DeletePropagationBackground
		if err := jobs.Delete(t.Context(), "sleeper", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
			t.Fatal(err)
		}
		waittest.For(t, pods, "no pods", "batch.kubernetes.io/job-name=sleeper", func(have map[string]*corev1.Pod) bool { return len(have) == 0 })
	})
}
