package testenv_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/testenv"
)

// definition is a CRD.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// isolate makes the test's temporary files go to a directory of its own, and returns a function that fails the test if
// any are left.
func isolate(t *testing.T) (check func()) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() {
		t.Helper()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
	}
}

// A control plane of Start has what its options ask for, and leaves no files.
func TestStart(t *testing.T) {
	check := isolate(t)
	ctx := t.Context()
	env, err := testenv.Start(ctx, testenv.Options{
		NoNodes: true, NoControllers: true, NoScheduler: true,
		CRDs:   testenv.Objects{Values: []any{[]byte(definition)}},
		Faults: []testenv.Fault{{Action: "fail", Resource: "configmaps", Code: http.StatusConflict}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := kubernetes.NewForConfigOrDie(env.Config())
	if err := c.RESTClient().Get().AbsPath("/apis/example.com/v1/widgets").Do(ctx).Error(); err != nil {
		t.Error(err)
	}
	x := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "default"}}
	if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, x, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("the first write: %v", err)
	}
	go func() { // its error shows in the wait
		c.CoreV1().ConfigMaps("default").Create(ctx, x.DeepCopy(), metav1.CreateOptions{})
	}()
	env.WaitFor(t, x, func() bool { return x.UID != "" })
	ada := kubernetes.NewForConfigOrDie(env.User("ada", "devs"))
	if _, err := ada.CoreV1().ConfigMaps("default").Get(ctx, "x", metav1.GetOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"ada"`) {
		t.Errorf("a user without rights: %v", err)
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
	check()
}

// The waits work in a bubble, in virtual time.
func TestBubbleWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, Timeout: time.Hour})
		c := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default")
		late := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: "default"}}
		began := time.Now()
		go func() {
			time.Sleep(30 * time.Minute)
			c.Create(t.Context(), late.DeepCopy(), metav1.CreateOptions{}) // its error shows in the waits
		}()
		env.WaitFor(t, late, func() bool { return late.UID != "" })
		if waited := time.Since(began); waited != 30*time.Minute {
			t.Errorf("waited for %v", waited)
		}
		env.Eventually(t, "the object", func(ctx context.Context) error {
			_, err := c.Get(ctx, "late", metav1.GetOptions{})
			return err
		})
	})
}

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

// A test that waits in vain says why. In a bubble its timeout costs no time.
func TestFailingTestExplainsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempt{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() {
				for i := len(a.cleanups) - 1; i >= 0; i-- {
					a.cleanups[i]()
				}
			}()
			env := testenv.New(a, testenv.Options{Bubble: true, NoNodes: true})
			pods := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().Pods("default")
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stuck", Namespace: "default"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
			env.Eventually(a, "the pod's creation", func(ctx context.Context) error {
				_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
				return err
			})
			env.WaitFor(a, pod, func() bool { return pod.Status.Phase == corev1.PodRunning })
		}()
		<-done
		for _, part := range []string{
			"why pods default/stuck:", "no nodes available", "ADDED    pods default/stuck, create by kubernetes-admin", "queues of controllers",
			"testenv: waiting for pods default/stuck, for 1m0s at most: the condition does not hold",
		} {
			if !strings.Contains(a.log.String(), part) {
				t.Errorf("no %q in:\n%s", part, &a.log)
			}
		}
	})
}

func TestBadInput(t *testing.T) {
	check := isolate(t)
	for want, o := range map[string]testenv.Options{
		"Options.CRDs: stat nowhere":        {CRDs: testenv.Objects{Paths: []string{"nowhere"}}},
		"Options.Nodes is -1":               {Nodes: -1},
		`there is no controller "nonsense"`: {Controllers: []string{"nonsense"}},
		"explode":                           {Faults: []testenv.Fault{{Action: "explode"}}},
		"Widget":                            {Stages: testenv.Objects{Values: []any{map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}}},
		"Nonsense":                          {EnableCRDs: []string{"Nonsense"}},
	} {
		if env, err := testenv.Start(t.Context(), o); err == nil {
			env.Stop()
			t.Errorf("no error, want %q", want)
		} else if !strings.HasPrefix(err.Error(), "testenv: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	check()
}
