package clientsuite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/badnet"
)

// process is an operator's, with one controller.
type process struct {
	*controller.Manager
	loop *controller.Controller
	end  context.CancelFunc
	done chan error
}

// newProcess returns a process that reconciles with r; it is not started.
func newProcess(t *testing.T, config *rest.Config, lease leader.Candidate, workers int, r func(p *process) controller.Reconcile) *process {
	t.Helper()
	if config == nil {
		config = target.config
	}
	lease.Log = slog.Default()
	m, err := controller.NewManager(config, "suite", controller.ManagerOptions{Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Manager: m, done: make(chan error, 1)}
	p.loop = m.New("suite", r(p), controller.Options{Workers: workers})
	return p
}

func (p *process) run(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	p.end = end
	go func() { p.done <- p.Run(ctx) }()
}

// ends ends it and sees that it does so well.
func (p *process) ends(t *testing.T) {
	t.Helper()
	p.end()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

func mapOf(name string, labels map[string]string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, OwnerReferences: owners}}
}

// keys are the keys that a controller was called with, of one namespace.
type keys struct {
	ns   string
	mu   sync.Mutex
	got  map[string]bool
	bell chan struct{}
}

func newKeys(ns string) *keys {
	return &keys{ns: ns, got: map[string]bool{}, bell: make(chan struct{}, 1)}
}

func (k *keys) reconcile(_ context.Context, key controller.Key) (controller.Result, error) {
	if key.Namespace != k.ns {
		return controller.Result{}, nil
	}
	k.mu.Lock()
	k.got[key.Name] = true
	k.mu.Unlock()
	select {
	case k.bell <- struct{}{}:
	default:
	}
	return controller.Result{}, nil
}

// were waits until exactly these were called, and forgets them.
func (k *keys) were(t *testing.T, want ...string) {
	t.Helper()
	for {
		k.mu.Lock()
		done := true
		for _, w := range want {
			done = done && k.got[w]
		}
		got := fmt.Sprint(k.got)
		if done {
			for name := range k.got {
				if !slices.Contains(want, name) {
					t.Errorf("called with %s too", name)
				}
			}
			clear(k.got)
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		select {
		case <-k.bell:
		case <-time.After(patience):
			t.Fatalf("called with %s, want %v", got, want)
		}
	}
}

// TestMappings: an object queues keys by its owners, its labels and a function, when it is
// created, changed and deleted.
func TestMappings(t *testing.T) {
	ns := newNamespace(t)
	maps := client.For[*corev1.ConfigMap](connect(t, nil, client.Options{})).Namespace(ns)
	yes := true
	owner := func(kind, name string, controls *bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "sea.example.com/v1", Kind: kind, Name: name, UID: "1", Controller: controls}
	}
	for what, x := range map[string]struct {
		keys        func(*corev1.ConfigMap) []controller.Key
		first, then *corev1.ConfigMap
		born, moved []string // the keys
	}{
		"itself": {controller.Self[*corev1.ConfigMap], mapOf("self", nil), mapOf("self", map[string]string{"a": "b"}),
			[]string{"self"}, []string{"self"}},
		"the owner that controls it": {controller.ControllerOf[*corev1.ConfigMap]("Fleet"),
			mapOf("boat", nil, owner("Fleet", "north", &yes), owner("Fleet", "guests", nil)), mapOf("boat", nil, owner("Fleet", "south", &yes)),
			[]string{"north"}, []string{"north", "south"}},
		"all owners": {controller.OwnersOf[*corev1.ConfigMap]("Fleet"),
			mapOf("ship", nil, owner("Fleet", "north", &yes), owner("Fleet", "guests", nil), owner("Port", "home", nil)), mapOf("ship", nil),
			[]string{"north", "guests"}, []string{"north", "guests"}},
		"a label": {controller.Labelled[*corev1.ConfigMap]("port"),
			mapOf("raft", map[string]string{"port": "home"}), mapOf("raft", map[string]string{"port": "away"}),
			[]string{"home"}, []string{"home", "away"}},
		"a function": {func(m *corev1.ConfigMap) []controller.Key {
			return []controller.Key{{Namespace: m.Namespace, Name: m.Name + "-one"}, {Namespace: m.Namespace, Name: m.Name + "-two"}}
		}, mapOf("tug", nil), mapOf("tug", map[string]string{"a": "b"}), []string{"tug-one", "tug-two"}, []string{"tug-one", "tug-two"}},
	} {
		t.Run(what, func(t *testing.T) {
			k := newKeys(ns)
			p := newProcess(t, nil, leader.Candidate{}, 0, func(*process) controller.Reconcile { return k.reconcile })
			i := informer.New(client.For[*corev1.ConfigMap](p.Client), informer.Options[*corev1.ConfigMap]{Namespace: ns})
			p.Add(i)
			p.loop.Watch(controller.Watches(i, x.keys))
			p.run(t)
			defer p.ends(t)
			if _, err := maps.Create(t.Context(), x.first); err != nil {
				t.Fatal(err)
			}
			k.were(t, x.born...)
			if _, err := maps.Update(t.Context(), x.then); err != nil {
				t.Fatal(err)
			}
			k.were(t, x.moved...)
			if err := maps.Delete(t.Context(), x.then.Name); err != nil {
				t.Fatal(err)
			}
			gone := x.keys(func() *corev1.ConfigMap { m := x.then.DeepCopy(); m.Namespace = ns; return m }())
			var names []string
			for _, key := range gone {
				names = append(names, key.Name)
			}
			k.were(t, names...)
		})
	}
}

// TestWorkers: workers work on as many keys at once, none twice; panics are counted and
// retried; repeated events are counted into one; and a stop waits for running work, whose
// writes still go out.
func TestWorkers(t *testing.T) {
	const workers = 8
	ns := newNamespace(t)
	maps := client.For[*corev1.ConfigMap](connect(t, nil, client.Options{})).Namespace(ns)
	var together sync.WaitGroup // that all meet at
	together.Add(workers)
	var mu sync.Mutex
	calls, under := map[string]int{}, map[string]bool{}
	ended, leave := make(chan struct{}, workers), make(chan struct{})
	var copies *informer.Store[*corev1.ConfigMap]
	p := newProcess(t, nil, leader.Candidate{}, workers, func(p *process) controller.Reconcile {
		return func(ctx context.Context, key controller.Key) (controller.Result, error) {
			m, ok := copies.Get(key.Namespace, key.Name)
			if !ok || key.Namespace != ns || m.Labels["crew"] == "" {
				return controller.Result{}, nil
			}
			mu.Lock()
			calls[key.Name]++
			n := calls[key.Name]
			if under[key.Name] {
				t.Errorf("%s is worked on twice at once", key.Name)
			}
			under[key.Name] = true
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				under[key.Name] = false
			}()
			p.Recorder.Event(m, corev1.EventTypeWarning, "Tried", "it was tried")
			switch n {
			case 1:
				together.Done()
				together.Wait()
				panic("over board")
			case 2:
				return controller.Result{}, errors.New("not yet")
			}
			ended <- struct{}{}
			<-leave
			if ctx.Err() == nil {
				t.Errorf("%s goes on before the stop", key.Name)
			}
			_, err := client.For[*corev1.ConfigMap](p.Client).Namespace(ns).Create(context.WithoutCancel(ctx), mapOf(key.Name+"-done", nil))
			if err != nil {
				t.Error(err)
			}
			return controller.Result{}, ctx.Err()
		}
	})
	i := informer.For[*corev1.ConfigMap](p.Informers)
	copies = i.Store()
	p.loop.Watch(controller.For(i))
	p.run(t)
	for n := range workers {
		if _, err := maps.Create(t.Context(), mapOf(fmt.Sprint("m", n), map[string]string{"crew": "aboard"})); err != nil {
			t.Fatal(err)
		}
	}
	for range workers {
		<-ended
	}
	if n := p.loop.Panics(); n != workers {
		t.Errorf("%d panics counted, want %d", n, workers)
	}
	counted(t, client.For[*corev1.Event](p.Client).Namespace(ns), workers, 3)
	p.end()
	select {
	case err := <-p.done:
		t.Fatalf("it ended (%v) with work under way", err)
	default:
	}
	close(leave)
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	for n := range workers {
		if _, err := maps.Get(t.Context(), fmt.Sprintf("m%d-done", n)); err != nil {
			t.Error(err)
		}
	}
}

// counted waits until there is an event for each of so many objects, counted so often, and
// sees that there are no others.
func counted(t *testing.T, events client.Resource[*corev1.Event], objects int, times int32) {
	t.Helper()
	o := metav1.ListOptions{FieldSelector: "reason=Tried"}
	w, err := events.Watch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	done := map[string]bool{}
	for len(done) < objects {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Object.Source.Component != "suite" || e.Object.Count > times {
			t.Fatalf("an event of %s counted %d", e.Object.Source.Component, e.Object.Count)
		}
		if e.Object.Count == times {
			done[e.Object.InvolvedObject.Name] = true
		}
	}
	if l, err := events.List(t.Context(), o); err != nil || len(l.Items) != objects {
		t.Errorf("%d events, want %d (%v)", len(l.Items), objects, err)
	}
}

// TestOneProcessWorks: of two processes one works. The other takes over at once when the
// first stops, and after the lease's duration when its network fails; the first then cannot
// write any more.
func TestOneProcessWorks(t *testing.T) {
	ns := newNamespace(t)
	plain := connect(t, nil, client.Options{})
	maps := client.For[*corev1.ConfigMap](plain).Namespace(ns)
	leases := client.For[*coordinationv1.Lease](plain).Namespace(ns)
	lease := func(name string) leader.Candidate {
		timing := leader.Timing{LeaseDuration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: 100 * time.Millisecond}
		if name == "b" { // whose lease is waited out
			timing.LeaseDuration, timing.RenewDeadline = 8*time.Second, 7*time.Second
		}
		return leader.Candidate{Namespace: ns, Name: "suite", Identity: name, Timing: timing}
	}
	type call struct {
		who, key string
		ctx      context.Context
	}
	called, stay := make(chan call, 100), make(chan struct{})
	begin := func(name string, config *rest.Config) *process {
		p := newProcess(t, config, lease(name), 1, func(*process) controller.Reconcile {
			return func(ctx context.Context, key controller.Key) (controller.Result, error) {
				called <- call{name, key.Name, ctx}
				if key.Name == "long" && name == "b" {
					<-stay
				}
				return controller.Result{}, nil
			}
		})
		i := informer.New(client.For[*corev1.ConfigMap](p.Client), informer.Options[*corev1.ConfigMap]{Namespace: ns})
		p.Add(i)
		p.loop.Watch(controller.For(i))
		p.run(t)
		return p
	}
	works := func(who, name string) call {
		t.Helper()
		for c := range called {
			if c.key != name { // older events, for a new process
				continue
			}
			if c.who != who {
				t.Fatalf("%s works, want %s", c.who, who)
			}
			return c
		}
		return call{}
	}
	ask := func(name string) {
		t.Helper()
		if _, err := maps.Create(t.Context(), mapOf(name, nil)); err != nil {
			t.Fatal(err)
		}
	}
	net, broken := network(t)

	a := begin("a", nil)
	ask("one")
	works("a", "one")
	b := begin("b", broken)
	a.ends(t)
	works("b", "one")
	if l, err := leases.Get(t.Context(), "suite"); err != nil || *l.Spec.HolderIdentity != "b" || *l.Spec.LeaseTransitions < 1 {
		t.Errorf("the lease: %v %v", l.Spec, err)
	}
	ask("long")
	deposed := works("b", "long")
	net.Set(badnet.Conditions{Silent: true})
	c := begin("c", nil)
	works("c", "long") // b has not ended it, and has been too long without the lease
	select {
	case <-deposed.ctx.Done():
	case <-time.After(patience):
		t.Error("the deposed is not told to stop")
	}
	net.Set(badnet.Conditions{})
	_, err := client.For[*corev1.ConfigMap](b.Client).Namespace(ns).Create(context.WithoutCancel(deposed.ctx), mapOf("late", nil))
	if !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("a write of the deposed: %v", err)
	}
	close(stay)
	if err := <-b.done; !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("the deposed ended with %v", err)
	}
	c.ends(t)
	if l, err := leases.Get(t.Context(), "suite"); err != nil || *l.Spec.HolderIdentity != "" {
		t.Errorf("the lease was not given up: %v %v", l.Spec, err)
	}
}
