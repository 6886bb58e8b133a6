package testenv_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/testenv"
)

// forks are two environments with the same base.
func forks(t *testing.T, b *testenv.Base) (x, y *testenv.Env, cx, cy *kubernetes.Clientset) {
	t.Helper()
	x, y = b.Fork(t), b.Fork(t)
	return x, y, kubernetes.NewForConfigOrDie(x.Config()), kubernetes.NewForConfigOrDie(y.Config())
}

// prepare returns a base that is closed at the end of the test.
func prepare(t *testing.T, o testenv.Options, fixtures func(*testenv.Env) error) *testenv.Base {
	t.Helper()
	b, err := testenv.Prepare(t.Context(), o, fixtures)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// Forks have the objects, users and kinds of the base, and neither sees the other's writes.
func TestForks(t *testing.T) {
	ctx := t.Context()
	var fixture *corev1.ConfigMap
	b := prepare(t, testenv.Options{CRDs: testenv.Objects{Values: []any{[]byte(definition)}}}, func(env *testenv.Env) (err error) {
		c := kubernetes.NewForConfigOrDie(env.Config())
		if _, err := c.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "devs"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "devs"}},
		}, metav1.CreateOptions{}); err != nil {
			return err
		}
		fixture, err = c.CoreV1().ConfigMaps("default").Create(ctx, configMap("fixture"), metav1.CreateOptions{})
		return err
	})
	x, y, cx, cy := forks(t, b)
	for _, c := range []*kubernetes.Clientset{cx, cy, kubernetes.NewForConfigOrDie(x.User("ada", "devs"))} {
		got, err := c.CoreV1().ConfigMaps("default").Get(ctx, "fixture", metav1.GetOptions{})
		if err != nil || got.UID != fixture.UID || got.ResourceVersion != fixture.ResourceVersion {
			t.Errorf("the object of the base: %v, %v", got, err)
		}
	}
	for _, c := range []*kubernetes.Clientset{cx, cy} {
		if err := c.RESTClient().Get().AbsPath("/apis/example.com/v1/widgets").Do(ctx).Error(); err != nil {
			t.Error(err)
		}
	}
	if _, err := cx.CoreV1().ConfigMaps("default").Create(ctx, configMap("own"), metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if err := cx.CoreV1().ConfigMaps("default").Delete(ctx, "fixture", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := cy.CoreV1().ConfigMaps("default").Get(ctx, "own", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the other fork's object: %v", err)
	}
	if _, err := cy.CoreV1().ConfigMaps("default").Get(ctx, "fixture", metav1.GetOptions{}); err != nil {
		t.Errorf("an object that the other fork has deleted: %v", err)
	}
	// Controllers, scheduler and nodes work in each.
	for i, c := range []*kubernetes.Clientset{cx, cy} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		}}
		d, err := c.AppsV1().Deployments("default").Create(ctx, d, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		[]*testenv.Env{x, y}[i].WaitFor(t, d, func() bool { return d.Status.ReadyReplicas == 1 })
	}
}

func TestReset(t *testing.T) {
	ctx := t.Context()
	check := isolate(t)
	t.Run("", func(t *testing.T) {
		b := prepare(t, testenv.Options{
			NoNodes: true, Faults: []testenv.Fault{{Action: "fail", Resource: "configmaps", Client: "kubernetes-admin", Code: http.StatusConflict}},
		}, func(env *testenv.Env) error {
			_, err := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default").Create(ctx, configMap("fixture"), metav1.CreateOptions{})
			return err
		})
		env, _, c, other := forks(t, b)
		maps := c.CoreV1().ConfigMaps("default")
		for round := range 3 {
			if _, err := maps.Create(ctx, configMap("own"), metav1.CreateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("round %d, the first write, which a fault fails: %v", round, err)
			}
			if _, err := maps.Create(ctx, configMap("own"), metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
			w, err := maps.Watch(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := env.Reset(ctx); err != nil {
				t.Fatal(err)
			}
			for range w.ResultChan() { // ends
			}
			env.Eventually(t, "the state of the base", func(ctx context.Context) error {
				_, err := maps.Get(ctx, "fixture", metav1.GetOptions{})
				return err
			})
			if _, err := maps.Get(ctx, "own", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("an object of before the reset: %v", err)
			}
		}
		if _, err := other.CoreV1().ConfigMaps("default").Get(ctx, "fixture", metav1.GetOptions{}); err != nil {
			t.Errorf("the other fork: %v", err)
		}
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
		if err := env.Reset(ctx); err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("Reset after Stop: %v", err)
		}
	})
	check()
}

// refuser serves a validating webhook that refuses ConfigMaps of one name.
func refuser(t *testing.T, env *testenv.Env, name string) {
	t.Helper()
	w := env.Webhooks()
	l, err := env.Listen(net.JoinHostPort(w.Host, strconv.Itoa(w.Port)))
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(w.CertDir, "tls.crt"), filepath.Join(w.CertDir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: review.Request.Name != name, Result: &metav1.Status{Message: "refused by the webhook of " + name},
		}
		json.NewEncoder(w).Encode(review)
	}), TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	ended := make(chan struct{})
	go func() { defer close(ended); s.ServeTLS(l, "", "") }()
	t.Cleanup(func() { s.Close(); <-ended })
}

const validating = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: names}
webhooks:
- name: names.example.com
  clientConfig: {service: {name: names, namespace: default, path: /validate}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  admissionReviewVersions: [v1]
  sideEffects: None
`

// The webhooks of the base are called where each fork has them.
func TestForkWebhooks(t *testing.T) {
	b := prepare(t, testenv.Options{NoNodes: true, NoControllers: true, NoScheduler: true, Webhooks: testenv.Objects{Values: []any{[]byte(validating)}}}, nil)
	x, y, cx, cy := forks(t, b)
	refuser(t, x, "x")
	refuser(t, y, "y")
	for own, c := range map[string]*kubernetes.Clientset{"x": cx, "y": cy} {
		for _, name := range []string{"x", "y"} {
			_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name), metav1.CreateOptions{})
			if refused := err != nil && strings.Contains(err.Error(), "refused by the webhook of "+own); refused != (name == own) || !refused && err != nil {
				t.Errorf("fork %s, ConfigMap %s: %v", own, name, err)
			}
		}
	}
}

func TestForkInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t, testenv.Options{Bubble: true, NoNodes: true}, func(env *testenv.Env) error {
			_, err := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("fixture"), metav1.CreateOptions{})
			return err
		})
		x, _, cx, cy := forks(t, b)
		time.Sleep(time.Hour)
		if err := cx.CoreV1().ConfigMaps("default").Delete(t.Context(), "fixture", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := x.Reset(t.Context()); err != nil {
			t.Error(err)
		}
		for _, c := range []*kubernetes.Clientset{cx, cy} {
			if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "fixture", metav1.GetOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestForkBadInput(t *testing.T) {
	ctx, check := t.Context(), isolate(t)
	o := testenv.Options{NoNodes: true, NoControllers: true, NoScheduler: true}
	refused := errors.New("the fixtures refuse")
	if _, err := testenv.Prepare(ctx, o, func(*testenv.Env) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("an error of the fixtures: %v", err)
	}
	onDisk := o
	onDisk.DataDir = filepath.Join(t.TempDir(), "data")
	if _, err := testenv.Prepare(ctx, onDisk, nil); err == nil || !strings.Contains(err.Error(), "Options.DataDir is set") {
		t.Errorf("a base on disk: %v", err)
	}
	env, err := testenv.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Reset(ctx); err == nil || !strings.Contains(err.Error(), "not a fork") {
		t.Errorf("Reset of an environment of Start: %v", err)
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
	b, err := testenv.Prepare(ctx, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	fork, err := b.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(fork.Config()).CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{}); err != nil {
		t.Errorf("a fork of a base that is closed: %v", err)
	}
	if err := fork.Reset(ctx); err == nil || !strings.HasPrefix(err.Error(), "testenv: Reset: ") {
		t.Errorf("Reset to a base that is closed: %v", err)
	}
	if err := fork.Stop(); err != nil {
		t.Error(err)
	}
	if late, err := b.Start(ctx); err == nil {
		late.Stop()
		t.Error("a base that is closed has a new fork")
	}
	check()
}

func ExampleBase() {
	ctx := context.Background()
	base, err := testenv.Prepare(ctx, testenv.Options{NoNodes: true}, func(env *testenv.Env) error {
		maps := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default")
		_, err := maps.Create(ctx, configMap("fixture"), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		panic(err)
	}
	defer base.Close()
	for range 2 {
		env, err := base.Start(ctx) // in a test: env := base.Fork(t)
		if err != nil {
			panic(err)
		}
		maps := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default")
		fmt.Println(maps.Delete(ctx, "fixture", metav1.DeleteOptions{}))
		if err := env.Stop(); err != nil {
			panic(err)
		}
	}
	// Output:
	// <nil>
	// <nil>
}
