package controlplane_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// TestControllersKilledAtEachStep kills a manager at a write, before the server has it, or
// after, so that only the response is lost. The next manager finishes the work: no object is
// created twice, and deletion is complete.
func TestControllersKilledAtEachStep(t *testing.T) {
	eachScenario(t, (*faults).killAtEachStep)
}

// eachScenario runs a test of each scenario on a server of its own.
func eachScenario(t *testing.T, test func(*faults, *testing.T, scenario)) {
	for _, d := range scenarios {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel() // most of the time goes by waiting for pods
			test(startFaults(t, helpersOf(d)), t, d)
		})
	}
}

func (f *faults) killAtEachStep(t *testing.T, d scenario) {
	for i, stage := range d.stages {
		for step, reached := 1+i, true; reached && !t.Failed(); step += killStride {
			for _, after := range killAfter(step) {
				t.Run(fmt.Sprintf("%s/%d/%v", stage.name, step, after), func(t *testing.T) {
					s := f.site(t)
					reached = s.survive(d, i, step, after)
					s.judge(d, stage)
					s.deleteAll(d)
				})
			}
		}
	}
}

// TestTwoManagersAtOnce runs two managers without leader election. Their writes conflict, but
// each stage finishes, and objects with deterministic names are created once.
func TestTwoManagersAtOnce(t *testing.T) {
	eachScenario(t, func(f *faults, t *testing.T, d scenario) {
		s := f.site(t)
		s.twice = true
		startManager(t, f.config, d.controllers, killPoint{}, nil)
		startManager(t, f.config, d.controllers, killPoint{}, nil)
		for _, stage := range d.stages {
			stage.ask(s, "")
			stage.done(s)
			for _, name := range d.named {
				if n, want := kinds[name].made(s), stage.made[name]; n != want {
					t.Errorf("%s: made %d %s, want %d", stage.name, n, name, want)
				}
			}
		}
		s.deleteAll(d)
	})
}

// TestControllersWithStaleCaches delays the watches of one resource during each change:
// controllers with a stale cache must not repeat a write.
func TestControllersWithStaleCaches(t *testing.T) {
	eachScenario(t, (*faults).holdCaches)
}

func (f *faults) holdCaches(t *testing.T, d scenario) {
	for _, resource := range d.caches {
		t.Run(resource, func(t *testing.T) {
			s := f.site(t)
			c := startManager(t, f.config, d.controllers, killPoint{}, nil)
			for i, stage := range d.stages {
				release := func() {}
				if i > 0 { // during the first stage the manager may not run yet
					release = c.hold(resource)
					defer release()
					stage.ask(s, resource)
				} else {
					stage.ask(s, "")
				}
				release()
				stage.done(s)
				s.judge(d, stage)
			}
			s.deleteAll(d)
		})
	}
}

// TestTakeover: two managers with all controllers elect a leader. The leader is killed at a
// write, and does not release its lease. The other one takes over when the lease expires,
// and no object is created twice.
func TestTakeover(t *testing.T) {
	t.Parallel() // most of the time goes by waiting
	f := startFaults(t, []string{})
	const first = takeoverStride / 2
	for step, tries := first, 0; !t.Failed(); step += takeoverStride {
		reached := false
		for _, after := range killAfter(step) {
			t.Run(fmt.Sprintf("%d/%v", step, after), func(t *testing.T) { reached = f.takeover(t, step, after) })
		}
		if reached {
			continue
		}
		if step > first {
			return
		}
		// On a stalled machine the leader can lose its lease before it comes to that write.
		if tries++; tries == 5 {
			t.Fatalf("the leader never came to write %d", step)
		}
		step -= takeoverStride
	}
}

// takeover reports whether the first leader reached its kill point.
func (f *faults) takeover(t *testing.T, step int, after bool) bool {
	timing := &leader.Timing{LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond}
	all := []string{"*"}
	first := startManager(t, f.config, all, killPoint{step: step, in: "/namespaces/site-", after: after}, timing)
	waittest.For(t, client.For[*coordinationv1.Lease](f.client).Namespace("kube-system"), "a leader", "", func(have map[string]*coordinationv1.Lease) bool {
		l := have["kube-controller-manager"]
		return l != nil && ptr.Deref(l.Spec.HolderIdentity, "") != ""
	})
	second := startManager(t, f.config, all, killPoint{}, timing)
	sites := make([]*site, len(scenarios))
	for i, d := range scenarios {
		sites[i] = f.site(t)
		d.stages[0].ask(sites[i], "")
	}
	for i, d := range scenarios {
		d.stages[0].done(sites[i])
	}
	for i, d := range scenarios {
		sites[i].judge(d, d.stages[0])
	}
	first.end()
	second.end()
	select {
	case <-first.dead:
		return true
	default:
		return false
	}
}

// helpersOf are the controllers that run in the server's process during a scenario.
func helpersOf(d scenario) []string {
	all := []string{"serviceaccount", "nodelifecycle", "persistentvolume", "pvcprotection", "garbagecollector"}
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(d.controllers, name) })
}

// faults is a server with nodes, for tests of controllers under faults.
type faults struct {
	config *rest.Config
	client *client.Client
	next   atomic.Int32
}

func startFaults(t *testing.T, controllers []string) *faults {
	env := testenv.New(t, testenv.Options{Controllers: controllers, NoControllers: len(controllers) == 0})
	return &faults{config: env.Config(), client: env.Client(t)}
}

// site is a namespace in which a scenario runs.
type site struct {
	*testing.T
	f     *faults
	ns    string
	began string // the namespace's first resourceVersion
	twice bool   // two managers run at once
	ends  int    // the number of reads of its history
}

func (f *faults) site(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, f: f, ns: fmt.Sprintf("site-%d", f.next.Add(1))}
	ns, err := client.For[*corev1.Namespace](f.client).Create(t.Context(), &corev1.Namespace{ObjectMeta: named(s.ns)})
	if err != nil {
		t.Fatal(err)
	}
	s.began = ns.ResourceVersion
	waittest.One(t, on[*corev1.ServiceAccount](s), "default", "the service account", func(*corev1.ServiceAccount) bool { return true })
	return s
}

// survive runs a stage with a manager that is killed at a write, and another one after it. It
// reports whether the stage had that many writes.
func (s *site) survive(d scenario, stage, step int, after bool) bool {
	s.Helper()
	first := startManager(s.T, s.f.config, d.controllers, killPoint{}, nil)
	for _, earlier := range d.stages[:stage] {
		earlier.ask(s, "")
		earlier.done(s)
	}
	first.killAt(killPoint{step: step, in: "/namespaces/" + s.ns + "/", after: after})
	var second *manager
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-first.dead:
			first.end()
			second = startManager(s.T, s.f.config, d.controllers, killPoint{}, nil)
		case <-done:
			first.end()
		}
	}()
	d.stages[stage].ask(s, "")
	d.stages[stage].done(s)
	close(done)
	<-over
	return second != nil
}

// judge checks the number of objects that were created until a stage, and calls the
// scenario's judge.
func (s *site) judge(d scenario, at stage) {
	s.Helper()
	for name, want := range at.made {
		if n := kinds[name].made(s); n != want {
			s.Errorf("%s: made %d %s, want %d", at.name, n, name, want)
		}
	}
	if d.judge != nil {
		d.judge(s, kinds["Pod"].(kind[*corev1.Pod]).life(s))
	}
}

// deleteAll deletes the scenario's objects, and waits until the objects that controllers
// created for them are deleted too.
func (s *site) deleteAll(d scenario) {
	s.Helper()
	if d.remove == nil {
		return
	}
	d.remove(s)
	for name := range d.stages[len(d.stages)-1].made {
		kinds[name].gone(s)
	}
}
