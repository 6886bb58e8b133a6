package testcluster_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead.dev/testcluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// attempt is a test that may fail.
type attempt struct {
	failed   bool
	cleanups []func()
	log      strings.Builder
}

func (a *attempt) Helper()                        {}
func (a *attempt) Failed() bool                   { return a.failed }
func (a *attempt) Cleanup(f func())               { a.cleanups = append(a.cleanups, f) }
func (a *attempt) Logf(format string, v ...any)   { fmt.Fprintf(&a.log, format+"\n", v...) }
func (a *attempt) Errorf(format string, v ...any) { a.failed = true; a.Logf(format, v...) }
func (a *attempt) Fatalf(format string, v ...any) { a.Errorf(format, v...); runtime.Goexit() }

// run runs a test to its end and returns its log.
func (a *attempt) run(test func()) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(a.cleanups) - 1; i >= 0; i-- {
				a.cleanups[i]()
			}
		}()
		test()
	}()
	<-done
	return a.log.String()
}

func expect(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

// A test that waits in vain says why, with the changes of its objects, the watches and the queues. The pod waits for a
// node that does not exist.
func TestFailingTestExplainsItself(t *testing.T) {
	o := testcluster.Options{NoNodes: true, Timeout: 30 * time.Second}
	a := &attempt{}
	var w watch.Interface
	text := a.run(func() {
		env := testcluster.New(a, o)
		pods := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().Pods("default")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stuck", Namespace: "default"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
		env.Eventually(a, "the pod's creation", func(ctx context.Context) error {
			_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
		env.WaitFor(a, pod, func() bool { return len(pod.Status.Conditions) > 0 })
		var err error
		w, err = kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default").Watch(context.Background(), metav1.ListOptions{})
		if err != nil {
			a.Fatalf("%v", err)
		}
		a.Errorf("failed on purpose")
	})
	if w != nil {
		w.Stop()
	}
	expect(t, text, "failed on purpose", "why pods default/stuck:", "Pod default/stuck", "no nodes available", "changes of the test's objects:", "ADDED    pods default/stuck, create by kubernetes-admin",
		"configmaps default by kubernetes-admin (testcluster.test/v0.0.0)", "queues of controllers", "the control plane's log:")
	if n := strings.Count(text, "why pods default/stuck"); n != 1 {
		t.Errorf("explained %d times:\n%s", n, text)
	}
}

// Waits that end without success end the test, with the last state in words.
func TestWaitsEnd(t *testing.T) {
	o := small()
	o.Timeout = 20 * time.Second // the start has to fit in
	env, err := testcluster.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Stop()
	missing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "missing", Namespace: "default"}}
	for _, c := range []struct {
		name string
		wait func(t testcluster.T)
		want string
	}{
		{"no name", func(t testcluster.T) { env.WaitGone(t, &corev1.Pod{}) }, "the *v1.Pod has no name"},
		{"no namespace", func(t testcluster.T) {
			env.WaitGone(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
		}, `the Pod "x" has no namespace`},
		{"no kind", func(t testcluster.T) { env.WaitGone(t, widget("x")) }, "Widget of /apis/example.com/v1"},
		{"an end of the control plane", func(t testcluster.T) {
			env.Eventually(t, "the end", func(context.Context) error {
				env.Stop()
				return errors.New("not yet")
			})
		}, "waiting for the end: the control plane has ended: not yet"},
		{"no control plane", func(t testcluster.T) { env.WaitFor(t, missing, func() bool { return true }) }, "the control plane has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &attempt{}
			expect(t, a.run(func() { c.wait(a) }), c.want)
			if !a.failed {
				t.Error("it has not failed")
			}
		})
	}
}
