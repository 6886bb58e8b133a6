package controlplane_test

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

// jobOf runs to completion n times.
func jobOf(n int32, mode batchv1.CompletionMode) batchv1.JobSpec {
	template := corev1.PodTemplateSpec{Spec: *webPods.Spec.DeepCopy()}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return batchv1.JobSpec{Completions: &n, Parallelism: ptr.To[int32](2), CompletionMode: &mode, Template: template}
}

// completed waits until a Job is complete, and checks its status and pods for n completions.
func completed(name string, n int32) func(*site) {
	return func(s *site) {
		s.Helper()
		waittest.One(s, on[*batchv1.Job](s), name, "its completion", func(j *batchv1.Job) bool { return j.Status.CompletionTime != nil })
		j, err := on[*batchv1.Job](s).Get(s.Context(), name)
		if err != nil {
			s.Fatal(err)
		}
		if at := &j.Status; at.Succeeded != n || at.Failed != 0 || at.Active != 0 || at.UncountedTerminatedPods != nil && len(at.UncountedTerminatedPods.Succeeded) > 0 {
			s.Errorf("%s ended with %+v, want %d successes", name, *at, n)
		}
		if s.twice {
			return // a manager creates pods that the other one has not seen, and deletes them as too many
		}
		pods, err := on[*corev1.Pod](s).List(s.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
		if err != nil {
			s.Fatal(err)
		}
		indexes := map[string]string{}
		for _, p := range pods.Items {
			if len(p.Finalizers) > 0 {
				s.Errorf("%s ended, and its pod %s has finalizers %v", name, p.Name, p.Finalizers)
			}
			if index := p.Annotations[batchv1.JobCompletionIndexAnnotation]; index != "" {
				indexes[index] = p.Name
			}
		}
		if len(pods.Items) != int(n) || len(indexes) > 0 && len(indexes) != int(n) {
			s.Errorf("%s has %d pods of indexes %v, want %d", name, len(pods.Items), slices.Sorted(maps.Keys(indexes)), n)
		}
	}
}

var jobs = scenario{
	name:        "job",
	controllers: []string{"job"},
	caches:      []string{"pods", "jobs"},
	remove:      func(s *site) { remove[*batchv1.Job]("plain")(s); remove[*batchv1.Job]("indexed")(s) },
	stages: []stage{{
		name: "plain",
		ask: func(s *site, _ string) {
			create(s, &batchv1.Job{ObjectMeta: named("plain"), Spec: jobOf(4, batchv1.NonIndexedCompletion)})
		},
		done: completed("plain", 4),
		made: map[string]int{"Pod": 4},
	}, {
		name: "indexed",
		ask: func(s *site, held string) {
			create(s, &batchv1.Job{ObjectMeta: named("indexed"), Spec: jobOf(4, batchv1.IndexedCompletion)})
			if held == "pods" {
				waittest.For(s, on[*corev1.Pod](s), "two pods", batchv1.JobNameLabel+"=indexed", func(have map[string]*corev1.Pod) bool { return len(have) == 2 })
			}
			touch[*batchv1.Job](s, "indexed")
		},
		done: completed("indexed", 4),
		made: map[string]int{"Pod": 8},
	}},
}

// Two CronJobs that are due: each is resumed with a lastScheduleTime of more than a year ago.
// They keep no finished Jobs, so only their status records the run.
var cronJobs = scenario{
	name:        "cronjob",
	controllers: []string{"cronjob", "job"},
	caches:      []string{"jobs", "cronjobs"},
	named:       []string{"Job"},
	remove:      func(s *site) { remove[*batchv1.CronJob]("first")(s); remove[*batchv1.CronJob]("second")(s) },
	stages: []stage{{
		name: "first",
		ask:  func(s *site, _ string) { due(s, "first") },
		done: ranOnce("first"),
		made: map[string]int{"Job": 1},
	}, {
		name: "second",
		ask: func(s *site, held string) {
			due(s, "second")
			if held == "jobs" {
				waittest.For(s, on[*batchv1.Job](s), "its Job", "", func(have map[string]*batchv1.Job) bool { return len(have) > 0 })
			}
			touch[*batchv1.CronJob](s, "second")
		},
		done: ranOnce("second"),
		made: map[string]int{"Job": 2},
	}},
}

func due(s *site, name string) {
	s.Helper()
	none := int32(0)
	made := create(s, &batchv1.CronJob{ObjectMeta: named(name), Spec: batchv1.CronJobSpec{
		Schedule: "0 0 1 1 *", Suspend: ptr.To(true), ConcurrencyPolicy: batchv1.ForbidConcurrent,
		SuccessfulJobsHistoryLimit: &none, JobTemplate: batchv1.JobTemplateSpec{Spec: jobOf(1, batchv1.NonIndexedCompletion)},
	}})
	made.Status.LastScheduleTime = &metav1.Time{Time: time.Now().AddDate(-1, 0, -1)}
	if _, err := on[*batchv1.CronJob](s).UpdateStatus(s.Context(), made); err != nil {
		s.Fatal(err)
	}
	patch[*batchv1.CronJob](s, name, `{"spec":{"suspend":false}}`)
}

// ranOnce waits until a CronJob has run and its Job is deleted.
func ranOnce(name string) func(*site) {
	return func(s *site) {
		s.Helper()
		waittest.One(s, on[*batchv1.CronJob](s), name, "its run", func(cj *batchv1.CronJob) bool {
			return cj.Status.LastSuccessfulTime != nil && len(cj.Status.Active) == 0
		})
		waittest.For(s, on[*batchv1.Job](s), "no Job", "", func(have map[string]*batchv1.Job) bool { return len(have) == 0 })
	}
}
