package ttlafterfinished_test

import (
	"context"
	"log/slog"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controllers/ttlafterfinished"
	"fairlead.dev/testenv"
)

func TestFinishedJobExpires(t *testing.T) {
	server := testenv.New(t, testenv.Options{Controllers: []string{"job", "garbagecollector", "nodelifecycle", "serviceaccount"}})
	c := server.Client(t)
	env := controller.Env{Client: c, Informers: informer.NewSet(c), Recorder: client.NewRecorder(c, "test"), Log: slog.Default()}
	run := ttlafterfinished.New(env)
	ctx, stop := context.WithCancel(t.Context())
	env.Informers.Start(ctx)
	done := make(chan error, 1)
	go func() { done <- run.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		env.Informers.Stop()
		env.Recorder.Close()
	}()

	jobs := client.For[*batchv1.Job](c).Namespace("default")
	ttl := int32(0)
	job := func(name string, ttl *int32) *batchv1.Job {
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec: batchv1.JobSpec{TTLSecondsAfterFinished: ttl, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			}}},
		}
	}
	for _, j := range []*batchv1.Job{job("keep", nil), job("expire", &ttl)} {
		if _, err := jobs.Create(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	waittest.For(t, jobs, "one finished, the other gone", "", func(have map[string]*batchv1.Job) bool {
		return len(have) == 1 && have["keep"] != nil && have["keep"].Status.Succeeded == 1
	})
	waittest.For(t, client.For[*corev1.Pod](c).Namespace("default"), "its pod gone too", "batch.kubernetes.io/job-name=expire",
		func(have map[string]*corev1.Pod) bool { return len(have) == 0 })
}
