package controlplane_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/resource/gates"
)

// electionsAPI is the API with coordinated leader election.
func electionsAPI(t *testing.T) gates.API {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err == nil {
		err = all.Set("CoordinatedLeaderElection=true")
	}
	if err != nil {
		t.Fatal(err)
	}
	return gates.API{Gates: all, Asked: []schema.GroupVersionResource{coordinationv1beta1.SchemeGroupVersion.WithResource("leasecandidates")}}
}

// electorate is a control plane that elects the holder of the Lease work.
type electorate struct {
	*testing.T
	*controlplane.ControlPlane
	*kubernetes.Clientset
	// leads has the candidates that began to work, and stops those that stopped.
	leads, stops chan string
}

// electors runs test in a bubble on a control plane with coordinated leader election.
func electors(t *testing.T, test func(e electorate)) {
	o := controlplane.Options{DataDir: t.TempDir(), InMemory: true, API: electionsAPI(t)}
	synctest.Test(t, func(t *testing.T) {
		o.Network = new(memnet.Network)
		cp, err := controlplane.Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		test(electorate{t, cp, kubernetes.NewForConfigOrDie(cp.Config()), make(chan string, 10), make(chan string, 10)})
	})
}

// upstream runs client-go's candidate until stop is called, or it has lost the Lease.
func (e electorate) upstream(name, emulates string) (stop func()) {
	e.Helper()
	ctx, cancel := context.WithCancel(e.Context())
	candidate, _, err := leaderelection.NewCandidate(e.Clientset, "kube-system", name, "work", "1.37.2", emulates, coordinationv1.OldestEmulationVersion)
	if err != nil {
		e.Fatal(err)
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "work"}, Client: e.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: name}},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, Coordinated: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { e.leads <- name },
			OnStoppedLeading: func() { e.stops <- name },
		},
	})
	if err != nil {
		e.Fatal(err)
	}
	ended, elected := make(chan struct{}), make(chan struct{})
	go func() { candidate.Run(ctx); close(ended) }()
	go func() { elector.Run(ctx); cancel(); close(elected) }() // as a program that exits
	return func() { cancel(); <-ended; <-elected }
}

// ours runs this project's candidate until stop is called.
func (e electorate) ours(name, emulates string) (stop func()) {
	e.Helper()
	c, err := client.New(e.Config(), client.Options{})
	if err != nil {
		e.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e.Context())
	done := make(chan error, 1)
	go func() {
		done <- leader.Run(ctx, c, leader.Candidate{
			Namespace: "kube-system", Name: "work", Identity: name, Coordinated: &leader.Coordinated{BinaryVersion: "1.37.2", EmulationVersion: emulates},
		}, func(ctx context.Context) error {
			e.leads <- name
			<-ctx.Done()
			e.stops <- name
			return nil
		})
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			e.Error(err)
		}
	}
}

func (e electorate) lease(name string) *coordinationv1.Lease {
	e.Helper()
	l, err := e.CoordinationV1().Leases("kube-system").Get(e.Context(), name, metav1.GetOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return l
}

// expect fails the test if another candidate comes next.
func (e electorate) expect(from chan string, want string) {
	e.Helper()
	if got := <-from; got != want {
		e.Fatalf("%s, want %s", got, want)
	}
}

// TestElections: the candidate with the oldest emulation version gets the Lease, of client-go's and ours, when the one before
// has let it expire or given it up.
func TestElections(t *testing.T) {
	electors(t, func(e electorate) {
		ready, err := e.CoreV1().RESTClient().Get().AbsPath("/readyz").Param("verbose", "").DoRaw(e.Context())
		if err != nil || !strings.Contains(string(ready), "[+]poststarthook/start-kube-apiserver-coordinated-leader-election-controller ok") {
			e.Errorf("%v\n%s", err, ready)
		}
		defer e.upstream("a", "1.37.0")()
		e.expect(e.leads, "a")
		if s := e.lease("work").Spec; *s.HolderIdentity != "a" || ptr.Deref(s.Strategy, "") != coordinationv1.OldestEmulationVersion || s.PreferredHolder != nil {
			e.Errorf("%+v", s)
		}
		if s := e.lease("leader-election-controller").Spec; ptr.Deref(s.HolderIdentity, "") == "" || *s.LeaseDurationSeconds != 15 || s.Strategy != nil {
			e.Errorf("the server's own: %+v", s)
		}

		defer e.upstream("b", "1.36.0")()
		for ptr.Deref(e.lease("work").Spec.PreferredHolder, "") != "b" {
			time.Sleep(time.Second)
		}
		e.expect(e.stops, "a")
		e.expect(e.leads, "b")
		if s := e.lease("work").Spec; *s.HolderIdentity != "b" || s.PreferredHolder != nil {
			e.Errorf("%+v", s)
		}

		defer e.ours("c", "1.36.0")() // of the same version: b stays
		time.Sleep(time.Minute)
		if s := e.lease("work").Spec; *s.HolderIdentity != "b" || s.PreferredHolder != nil {
			e.Errorf("%+v", s)
		}
		stop := e.ours("d", "1.35.0")
		e.expect(e.stops, "b")
		e.expect(e.leads, "d")
		if s := e.lease("work").Spec; *s.HolderIdentity != "d" || s.PreferredHolder != nil || ptr.Deref(s.Strategy, "") != coordinationv1.OldestEmulationVersion {
			e.Errorf("%+v", s)
		}
		stop()
		e.expect(e.stops, "d")
		e.expect(e.leads, "c")

		defer e.upstream("f", "1.34.0")()
		e.expect(e.stops, "c")
		e.expect(e.leads, "f")
	})
}

// TestExpiredElections: a candidate whose Lease expired while it could not reach the server is elected again, and one that
// does not renew itself is deleted.
func TestExpiredElections(t *testing.T) {
	electors(t, func(e electorate) {
		candidates := e.CoordinationV1beta1().LeaseCandidates("kube-system")
		_, err := candidates.Create(e.Context(), &coordinationv1beta1.LeaseCandidate{
			ObjectMeta: metav1.ObjectMeta{Name: "dead"}, Spec: coordinationv1beta1.LeaseCandidateSpec{
				LeaseName: "work", BinaryVersion: "1.37.0", EmulationVersion: "1.33.0", Strategy: coordinationv1.OldestEmulationVersion, RenewTime: ptr.To(metav1.NowMicro())},
		}, metav1.CreateOptions{})
		if err != nil {
			e.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		defer e.ours("a", "1.37.0")()
		e.expect(e.leads, "a")
		stale := e.lease("work")
		stale.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
		stale.Spec.LeaseDurationSeconds = ptr.To(int32(1))
		for {
			if _, err = e.CoordinationV1().Leases("kube-system").Update(e.Context(), stale, metav1.UpdateOptions{}); err == nil {
				break
			}
			stale.ResourceVersion = e.lease("work").ResourceVersion
		}
		time.Sleep(time.Minute)
		if s := e.lease("work").Spec; *s.HolderIdentity != "a" || time.Since(s.RenewTime.Time) > 5*time.Second {
			e.Errorf("%+v", s)
		}
		time.Sleep(30 * time.Minute)
		if _, err := candidates.Get(e.Context(), "dead", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			e.Errorf("a dead candidate: %v", err)
		}
		if _, err := candidates.Get(e.Context(), "a", metav1.GetOptions{}); err != nil {
			e.Errorf("a living candidate: %v", err)
		}
	})
}

// TestNoElections: without the gate the fields of Leases are dropped, and with it they are validated.
func TestNoElections(t *testing.T) {
	with := func(api gates.API, s coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: t.TempDir(), InMemory: true, API: api, Network: new(memnet.Network)})
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		return systemLeases(cp).Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: s}, metav1.CreateOptions{})
	}
	spec := coordinationv1.LeaseSpec{PreferredHolder: ptr.To("a")}
	if l, err := with(gates.API{}, spec); err != nil || l.Spec.PreferredHolder != nil {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := with(electionsAPI(t), spec); !apierrors.IsInvalid(err) || err.(apierrors.APIStatus).Status().Code != http.StatusUnprocessableEntity {
		t.Errorf("%v", err)
	}
	spec.Strategy = ptr.To(coordinationv1.OldestEmulationVersion)
	if l, err := with(gates.API{}, spec); err != nil || l.Spec.Strategy != nil || l.Spec.PreferredHolder != nil {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := with(electionsAPI(t), spec); err != nil || l.Spec.Strategy == nil || l.Spec.PreferredHolder == nil {
		t.Errorf("%+v, %v", l, err)
	}
}
