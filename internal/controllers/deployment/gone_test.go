package deployment_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/deployment"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// lines is a log that may be written and read concurrently.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// around calls before ahead of each request.
type around struct {
	http.RoundTripper
	before func(*http.Request)
}

func (a around) RoundTrip(r *http.Request) (*http.Response, error) {
	a.before(r)
	return a.RoundTripper.RoundTrip(r)
}

// logged collects the warnings of the whole process until the test ends.
func logged(t *testing.T) *lines {
	l, was := &lines{}, slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn})))
	t.Cleanup(func() { slog.SetDefault(was) })
	return l
}

// runAlone runs the controller as the only one of a server. before is called ahead of each request, and observe
// with each response.
func runAlone(t *testing.T, before func(*http.Request), observe func(client.Exchange)) *client.Client {
	t.Helper()
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount"}, NoScheduler: true, NoNodes: true})
	config := rest.CopyConfig(env.Config())
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return around{rt, before} })
	c, err := client.New(config, client.Options{Observe: func(_ context.Context, x client.Exchange) { observe(x) }})
	if err != nil {
		t.Fatal(err)
	}
	recorder := client.NewRecorder(c, "deployment-controller")
	t.Cleanup(recorder.Close)
	informers := informer.NewSet(c)
	run := deployment.New(controller.Env{Client: c, Informers: informers, Recorder: recorder, Log: slog.Default()})
	ctx, cancel := context.WithCancel(t.Context())
	var end sync.WaitGroup
	end.Go(func() { _ = run.Run(ctx) })
	informers.Start(ctx)
	t.Cleanup(func() { cancel(); end.Wait(); informers.Stop() })
	return env.Client(t)
}

// complaints returns the lines about reconciles of Deployments.
func complaints(l *lines) (list []string) {
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "controller=deployment") {
			list = append(list, line)
		}
	}
	return list
}

// A terminating namespace rejects new ReplicaSets, which is not an error of the controller.
func TestTerminatingNamespace(t *testing.T) {
	log := logged(t)
	refused := make(chan struct{}, 100)
	c := runAlone(t, func(*http.Request) {}, func(x client.Exchange) {
		if x.Method == http.MethodPost && strings.HasSuffix(x.Path, "/namespaces/going/replicasets") && x.Code == http.StatusForbidden {
			refused <- struct{}{}
		}
	})
	namespaces := client.For[*corev1.Namespace](c)
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "going"}}); err != nil {
		t.Fatal(err)
	}
	deployments := client.For[*appsv1.Deployment](c).Namespace("going")
	d := web(1, "web:1")
	d.Namespace = "going"
	if _, err := deployments.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("going")
	have := waittest.For(t, sets, "the first set", "", func(have map[string]*appsv1.ReplicaSet) bool { return len(have) == 1 })
	if err := namespaces.Delete(t.Context(), "going", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for name := range have {
		if err := sets.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	<-refused
	// Reconcile the Deployment again: the result of the first attempt has been logged by then.
	if err := client.RetryOnConflict(t.Context(), func() error {
		d, err := deployments.Get(t.Context(), "web")
		if err != nil {
			return err
		}
		d.Labels = map[string]string{"again": "true"}
		_, err = deployments.Update(t.Context(), d)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	<-refused
	if list := complaints(log); len(list) > 0 {
		t.Errorf("logged:\n%s", strings.Join(list, ""))
	}
}

// A Deployment that is deleted during its reconcile needs no status.
func TestDeletedMeanwhile(t *testing.T) {
	log := logged(t)
	var c *client.Client
	ready, once := make(chan struct{}), sync.Once{}
	c = runAlone(t, func(r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/deployments/web/status") {
			<-ready
			once.Do(func() {
				if err := client.For[*appsv1.Deployment](c).Namespace("default").Delete(context.WithoutCancel(t.Context()), "web", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
	}, func(client.Exchange) {})
	close(ready)
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")
	if _, err := deployments.Create(t.Context(), web(1, "web:1")); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, deployments, "web")
	if _, err := deployments.Create(t.Context(), web(1, "web:2")); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, deployments, "web", "the new one's status", func(d *appsv1.Deployment) bool { return d.Status.ObservedGeneration > 0 })
	if list := complaints(log); len(list) > 0 {
		t.Errorf("logged:\n%s", strings.Join(list, ""))
	}
}
