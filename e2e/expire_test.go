package e2e_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/nodelifecycle"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/node"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
)

// expiring is a server in memory with injected faults, on the clock of a synctest bubble.
type expiring struct {
	*testing.T
	log    *trace.Log
	faults *faults.Set
	server *server.Server
	ctx    context.Context
	parts  sync.WaitGroup
}

func inExpiring(t *testing.T, run func(x *expiring)) {
	synctest.Test(t, func(t *testing.T) {
		x := &expiring{T: t, log: trace.New(trace.Options{}), faults: faults.New()}
		store, err := local.Open("", local.Options{InMemory: true, Trace: x.log})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		kinds := builtin.Resources()
		x.server, err = server.New(server.Config{Store: store, Resources: kinds, Discovery: discovery.New(kinds), Trace: x.log, Faults: x.faults})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		x.ctx = ctx
		defer x.parts.Wait()
		defer stop()
		x.parts.Go(func() { x.server.Run(ctx) })
		run(x)
	})
}

func (x *expiring) config(user string) *rest.Config {
	return &rest.Config{Host: "http://memory", Transport: server.Transport(x.server, &auth.User{Name: user})}
}

// expire injects a fault that lets the selected Leases expire.
func (x *expiring) expire(f faults.Fault) faults.Fault {
	x.Helper()
	f.Action = faults.Expire
	f, err := x.faults.Add(x.ctx, f)
	if err != nil {
		x.Fatal(err)
	}
	return f
}

// candidate is a client-go leader elector.
type candidate struct {
	name       string
	led, ended []time.Time
}

func (x *expiring) candidate(name string) *candidate {
	c := kubernetes.NewForConfigOrDie(x.config(name))
	who := &candidate{name: name}
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "shop", Name: "operator"}, Client: c.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { who.led = append(who.led, time.Now()) },
			OnStoppedLeading: func() { who.ended = append(who.ended, time.Now()) },
		},
	})
	if err != nil {
		x.Fatal(err)
	}
	x.parts.Go(func() { e.Run(x.ctx) })
	synctest.Wait()
	return who
}

// TestExpireLeader: a leader whose Lease expires by a fault stops by itself. Only then
// another one leads, and keeps leading. The trace shows all of it.
func TestExpireLeader(t *testing.T) {
	inExpiring(t, func(x *expiring) {
		one, two := x.candidate("one"), x.candidate("two")
		time.Sleep(time.Minute)
		if len(one.led) != 1 || len(one.ended)+len(two.led) != 0 {
			t.Fatalf("before: %+v %+v", one, two)
		}
		if _, err := x.faults.Add(x.ctx, faults.Fault{Action: faults.Expire, Name: "other"}); err == nil {
			t.Error("a Lease without a holder expired")
		}
		began := time.Now()
		f := x.expire(faults.Fault{Namespace: "shop", Name: "operator"})
		time.Sleep(45 * time.Second)
		if len(one.ended) != 1 || len(two.led) != 1 {
			t.Fatalf("after 45 s: %+v %+v", one, two)
		}
		if stopped, took := one.ended[0].Sub(began), two.led[0].Sub(began); stopped > 15*time.Second || took <= stopped || took > 30*time.Second { // its retries are up to 4.4 s apart
			t.Errorf("one stopped leading after %v, two began after %v", stopped, took)
		}
		time.Sleep(time.Hour)
		if len(two.ended) != 0 {
			t.Errorf("the second leader has lost the lease after %v", two.ended[0].Sub(began))
		}
		strikes, _ := x.log.InjectedFaults(trace.Filter{Resource: faults.Leases}, 0)
		if len(strikes) < 3 || slices.ContainsFunc(strikes, func(s trace.InjectedFault) bool { return s.Fault != f.ID || s.User != "one" || s.Name != "operator" }) {
			t.Errorf("strikes: %+v", strikes)
		}
		if n := x.faults.List()[0].Struck; n != len(strikes) {
			t.Errorf("%d renewals were struck, the trace tells of %d", n, len(strikes))
		}
		taken := slices.DeleteFunc(x.log.Lives(trace.Filter{Resource: faults.Leases}), func(lf trace.Life) bool { return len(lf.Faults) == 0 })
		if len(taken) != 1 || taken[0].User != "two" || taken[0].Faults[0].What != "taken from one, whose renewals failed" {
			t.Errorf("taken: %+v", taken)
		}
	})
}

// TestExpireOneClient: a fault with a client's name fails only the renewals of that client.
func TestExpireOneClient(t *testing.T) {
	inExpiring(t, func(x *expiring) {
		one := x.candidate("one")
		x.expire(faults.Fault{Client: "somebody-else"})
		time.Sleep(time.Minute)
		if len(one.ended) != 0 {
			t.Error("another's fault has ended a leader")
		}
		x.expire(faults.Fault{Client: "one", Resource: faults.Leases, Code: http.StatusServiceUnavailable})
		time.Sleep(time.Minute)
		if len(one.ended) != 1 {
			t.Errorf("one still leads: %+v", one)
		}
	})
}

// TestExpireNode: a node whose Lease expires becomes NotReady, and Ready when the fault is
// removed.
func TestExpireNode(t *testing.T) {
	inExpiring(t, func(x *expiring) {
		part := func(name string, of func(controller.Env) controller.Runner) {
			c, err := client.New(x.config(name), client.Options{Trace: x.log})
			if err != nil {
				t.Fatal(err)
			}
			env := controller.Env{Client: c, Informers: informer.NewSet(c), Recorder: client.NewRecorder(c, name), Log: slog.New(slog.DiscardHandler)}
			r := of(env)
			env.Informers.Start(x.ctx)
			x.parts.Go(func() {
				defer env.Recorder.Close()
				defer env.Informers.Stop()
				if err := r.Run(x.ctx); err != nil {
					t.Error(err)
				}
			})
		}
		part("system:nodes", func(env controller.Env) controller.Runner { return node.New(env, node.Options{Count: 2}) })
		part("node-controller", func(env controller.Env) controller.Runner {
			return nodelifecycle.New(env, nodelifecycle.Options{})
		})
		c := kubernetes.NewForConfigOrDie(x.config("me"))
		ready := func(name string) corev1.ConditionStatus {
			n, err := c.CoreV1().Nodes().Get(x.ctx, name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
			return n.Status.Conditions[i].Status
		}
		time.Sleep(time.Minute)
		f := x.expire(faults.Fault{Namespace: corev1.NamespaceNodeLease, Name: "node-1"})
		time.Sleep(90 * time.Second)
		if is, other := ready("node-1"), ready("node-2"); is != corev1.ConditionUnknown || other != corev1.ConditionTrue {
			t.Errorf("node-1 ready: %s, node-2: %s", is, other)
		}
		l, err := c.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(x.ctx, "node-1", metav1.GetOptions{})
		if err != nil || time.Since(l.Spec.RenewTime.Time) < 90*time.Second || *l.Spec.HolderIdentity != "node-1" {
			t.Errorf("%+v %v", l, err)
		}
		if err := x.faults.Remove(f.ID); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		if is := ready("node-1"); is != corev1.ConditionTrue {
			t.Errorf("node-1 ready two minutes after: %s", is)
		}
	})
}

// TestSlowWaits: a request for slow watches names an event that a watch has not been sent.
func TestSlowWaits(t *testing.T) {
	inExpiring(t, func(x *expiring) {
		w, err := kubernetes.NewForConfigOrDie(x.config("late")).CoreV1().ConfigMaps("default").Watch(x.ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if _, err := x.faults.Add(x.ctx, faults.Fault{Action: faults.Hold, Client: "late"}); err != nil {
			t.Fatal(err)
		}
		me := kubernetes.NewForConfigOrDie(x.config("me"))
		for range 2 {
			if _, err := me.CoreV1().ConfigMaps("default").Create(x.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "held-"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}
		if _, err := me.CoreV1().Secrets("default").Create(x.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		told, err := me.RESTClient().Get().AbsPath(server.LivesPath).Param("slow", "5s").DoRaw(x.ctx)
		if text := string(told); err != nil || strings.Count(text, "\n") != 1 || !strings.Contains(text, `"name":"held-`) || !strings.Contains(text, `"waiting":[{`) {
			t.Errorf("%v: what took five seconds:\n%s", err, text)
		}
	})
}
