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

// Controllers are killed at a write: before the server has it, or after, when only the
// answer is lost. Those that come after them finish the work; nothing was created twice,
// and nothing stays when it is deleted.
func TestControllersKilledAtEachStep(t *testing.T) {
	eachDuty(t, (*faults).killAtEachStep)
}

// eachDuty runs a test for every duty, each on a server of its own.
func eachDuty(t *testing.T, test func(*faults, *testing.T, duty)) {
	for _, d := range duties {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel() // they wait for their pods
			test(startFaults(t, helpersOf(d)), t, d)
		})
	}
}

func (f *faults) killAtEachStep(t *testing.T, d duty) {
	for i, stage := range d.stages {
		for step, reached := 1+i, true; reached && !t.Failed(); step += killStride {
			for _, after := range killAfter(step) {
				t.Run(fmt.Sprintf("%s/%d/%v", stage.name, step, after), func(t *testing.T) {
					s := f.site(t)
					reached = s.survive(d, i, step, after)
					s.judge(d, stage)
					s.leaveNothing(d)
				})
			}
		}
	}
}

// Two crews do the same work, neither knowing of the other. Whatever they do to each other,
// everything is as wanted in the end, and what has a name that tells what it is for was
// there once.
func TestControllersTwice(t *testing.T) {
	eachDuty(t, func(f *faults, t *testing.T, d duty) {
		s := f.site(t)
		s.twice = true
		startCrew(t, f.config, d.controllers, fate{}, nil)
		startCrew(t, f.config, d.controllers, fate{}, nil)
		for _, stage := range d.stages {
			stage.ask(s, "")
			stage.done(s)
			for _, name := range d.named {
				if n, want := kinds[name].made(s), stage.made[name]; n != want {
					t.Errorf("%s: made %d %s, want %d", stage.name, n, name, want)
				}
			}
		}
		s.leaveNothing(d)
	})
}

// What the watches of one resource tell is held back while something is asked for:
// controllers that see half of it must not do anything twice.
func TestControllersWithStaleCaches(t *testing.T) {
	eachDuty(t, (*faults).holdCaches)
}

func (f *faults) holdCaches(t *testing.T, d duty) {
	for _, resource := range d.caches {
		t.Run(resource, func(t *testing.T) {
			s := f.site(t)
			c := startCrew(t, f.config, d.controllers, fate{}, nil)
			for i, stage := range d.stages {
				release := func() {}
				if i > 0 { // before, the crew may not be there
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
			s.leaveNothing(d)
		})
	}
}

// TestTakeover: two whole sets of controllers take turns by a lease. The one that leads is
// stopped hard in the middle of everything, without giving the lease up; the other one
// takes over when it has run out, and nothing was done twice.
func TestTakeover(t *testing.T) {
	t.Parallel() // it waits more than it works
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
		// On a machine that stood still, the lease was lost before it came to that.
		if tries++; tries == 5 {
			t.Fatalf("the leader never came to write %d", step)
		}
		step -= takeoverStride
	}
}

// takeover reports whether the first leader came to the step at which it is stopped.
func (f *faults) takeover(t *testing.T, step int, after bool) bool {
	timing := &leader.Timing{LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond}
	all := []string{"*"}
	first := startCrew(t, f.config, all, fate{step: step, in: "/namespaces/site-", after: after}, timing)
	waittest.For(t, client.For[*coordinationv1.Lease](f.client).Namespace("kube-system"), "a leader", "", func(have map[string]*coordinationv1.Lease) bool {
		l := have["kube-controller-manager"]
		return l != nil && ptr.Deref(l.Spec.HolderIdentity, "") != ""
	})
	second := startCrew(t, f.config, all, fate{}, timing)
	sites := make([]*site, len(duties))
	for i, d := range duties {
		sites[i] = f.site(t)
		d.stages[0].ask(sites[i], "")
	}
	for i, d := range duties {
		d.stages[0].done(sites[i])
	}
	for i, d := range duties {
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

// helpersOf are the controllers that others are at work beside.
func helpersOf(d duty) []string {
	all := []string{"serviceaccount", "nodelifecycle", "persistentvolume", "pvcprotection", "garbagecollector"}
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(d.controllers, name) })
}

// faults is a server with nodes.
type faults struct {
	config *rest.Config
	client *client.Client
	next   atomic.Int32
}

func startFaults(t *testing.T, controllers []string) *faults {
	env := testenv.Start(t, testenv.Options{Controllers: controllers})
	return &faults{config: env.Config(), client: env.Client(t)}
}

// site is a namespace in which a duty is done.
type site struct {
	*testing.T
	f     *faults
	ns    string
	began string // the revision
	twice bool   // two crews of controllers work at once
	ends  int    // how often its history was read
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

// survive has a crew that is killed at a step of a stage, and others after it. It reports
// whether the stage had that many steps.
func (s *site) survive(d duty, stage, step int, after bool) bool {
	s.Helper()
	first := startCrew(s.T, s.f.config, d.controllers, fate{}, nil)
	for _, earlier := range d.stages[:stage] {
		earlier.ask(s, "")
		earlier.done(s)
	}
	first.doom(fate{step: step, in: "/namespaces/" + s.ns + "/", after: after})
	var second *crew
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-first.dead:
			first.end()
			second = startCrew(s.T, s.f.config, d.controllers, fate{}, nil)
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

// judge checks what was made on the way to a stage.
func (s *site) judge(d duty, at stage) {
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

// leaveNothing deletes what was applied, and waits until all that came of it is gone.
func (s *site) leaveNothing(d duty) {
	s.Helper()
	if d.remove == nil {
		return
	}
	d.remove(s)
	for name := range d.stages[len(d.stages)-1].made {
		kinds[name].gone(s)
	}
}
