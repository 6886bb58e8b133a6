package controller_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/testenv"
)

// replica is one process of an operator that reports the names of the ConfigMaps it reconciles.
type replica struct {
	*controller.Manager
	seen chan string
	end  context.CancelFunc
	done chan error
}

func start(t *testing.T, env *testenv.Env, lease leader.Candidate) *replica {
	t.Helper()
	lease.Log = quiet()
	m, err := controller.NewManager(env.Config(), "teller", controller.ManagerOptions{Log: quiet(), Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{Manager: m, seen: make(chan string, 100), done: make(chan error, 1)}
	maps := controller.ObjectsOf[*corev1.ConfigMap](m.Env)
	m.New("teller", controller.ByObject(maps, func(ctx context.Context, o *corev1.ConfigMap) (controller.Result, error) {
		if o.Namespace != metav1.NamespaceDefault || o.Name == "kube-root-ca.crt" {
			return controller.Result{}, nil
		}
		r.seen <- o.Name
		if o.Name == "nonsense" {
			return controller.Result{}, controller.Terminal(errors.New("it makes no sense"))
		}
		return controller.Result{}, nil
	}), controller.Options{}).Watch(controller.For(maps))
	ctx, cancel := context.WithCancel(t.Context())
	r.end = cancel
	go func() { r.done <- m.Run(ctx) }()
	t.Cleanup(cancel)
	return r
}

func (r *replica) page(t *testing.T, path string) (int, string) {
	t.Helper()
	s := httptest.NewServer(r.Handler())
	defer s.Close()
	res, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func makeMap(t *testing.T, maps client.Resource[*corev1.ConfigMap], name string) {
	t.Helper()
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

func TestManagersTakeTurns(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true})
	c := env.Client(t)
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	lease := leader.Candidate{Namespace: "kube-system", Name: "teller",
		Timing: leader.Timing{LeaseDuration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: 50 * time.Millisecond}}
	a, b := start(t, env, lease), start(t, env, lease)

	makeMap(t, maps, "one")
	first, second := a, b
	select {
	case <-a.seen:
	case <-b.seen:
		first, second = b, a
	}
	makeMap(t, maps, "nonsense")
	if name := <-first.seen; name != "nonsense" {
		t.Errorf("the leader was told of %s", name)
	}
	if code, text := first.page(t, "/readyz"); code != 200 || text != "ok" {
		t.Errorf("/readyz: %d %s", code, text)
	}

	// An orderly shutdown releases the lease, and the next leader knows the changes made meanwhile.
	first.end()
	if err := <-first.done; err != nil {
		t.Errorf("the first ended with %v", err)
	}
	if code, text := first.page(t, "/readyz"); code != 503 {
		t.Errorf("/readyz of one that has ended: %d %s", code, text)
	}
	if code, _ := first.page(t, "/healthz"); code != 200 {
		t.Errorf("/healthz: %d", code)
	}
	for range 2 {
		if name := <-second.seen; name != "one" && name != "nonsense" {
			t.Errorf("the next was told of %s", name)
		}
	}
	_, text := first.page(t, "/metrics")
	for _, line := range []string{
		`leader_election_master_status{name="teller"} 0`,
		`controller_runtime_reconcile_total{controller="teller",result="error"} 1`,
		`controller_runtime_terminal_reconcile_errors_total{controller="teller"} 1`,
		`controller_runtime_max_concurrent_reconciles{controller="teller"} 4`,
		`controller_runtime_active_workers{controller="teller"} 0`,
		`workqueue_depth{name="teller"} 0`,
		`workqueue_retries_total{name="teller"} 0`,
		`rest_client_requests_total{code="200",`,
		`fairlead_informer_lists_total{name="",resource="ConfigMap"} 1`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s in the metrics:\n%s", line, text)
		}
	}
	if _, text := second.page(t, "/metrics"); !strings.Contains(text, `leader_election_master_status{name="teller"} 1`) {
		t.Error("the second does not show that it leads")
	}

	// A process that loses its lease exits.
	leases := client.For[*coordinationv1.Lease](c).Namespace("kube-system")
	err := client.RetryOnConflict(t.Context(), func() error {
		l, err := leases.Get(t.Context(), "teller")
		if err != nil {
			return err
		}
		thief := "thief"
		l.Spec.HolderIdentity = &thief
		_, err = leases.Update(t.Context(), l)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second.done; !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("the robbed one ended with %v", err)
	}
	if err := second.Run(t.Context()); err == nil {
		t.Error("it ran twice")
	}
}

type failing struct{}

func (failing) Run(context.Context) error { return errors.New("it broke") }

func TestManagerEndsWithItsParts(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true, NoScheduler: true, NoControllers: true})
	m, err := controller.NewManager(env.Config(), "broken", controller.ManagerOptions{Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	m.Add(failing{})
	m.New("idle", func(context.Context, controller.Key) (controller.Result, error) { return controller.Result{}, nil }, controller.Options{})
	if err := m.Run(t.Context()); err == nil || err.Error() != "it broke" {
		t.Errorf("%v", err)
	}
}
