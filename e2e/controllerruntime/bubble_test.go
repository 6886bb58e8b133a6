package controllerruntime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/testenv"
)

// TestManagerInBubble runs a manager with leader election, whose reconciler requeues after half an hour, for a day of
// virtual time.
func TestManagerInBubble(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	synctest.Test(t, func(t *testing.T) {
		config := testenv.New(t, testenv.Options{Bubble: true, NoControllers: true, NoScheduler: true, NoNodes: true}).Config()
		m, err := ctrl.NewManager(config, ctrl.Options{
			Metrics:        server.Options{BindAddress: "0"},
			LeaderElection: true, LeaderElectionID: "operator", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
			// The defaults would renew the lease every two seconds, and each renewal ends a jump of the clock.
			LeaseDuration: new(time.Hour), RenewDeadline: new(40 * time.Minute), RetryPeriod: new(10 * time.Minute),
		})
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Time
		err = ctrl.NewControllerManagedBy(m).Named("bubble").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
			func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
				if r.Name == "watched" {
					at = append(at, time.Now())
				}
				return reconcile.Result{RequeueAfter: 30 * time.Minute}, nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- m.Start(ctx) }()
		<-m.Elected()
		c := m.GetClient()
		if err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched", Namespace: "default"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour + time.Minute)
		var lease coordinationv1.Lease
		if err := m.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "operator"}, &lease); err != nil {
			t.Error(err)
		} else if age := time.Since(lease.Spec.RenewTime.Time); age > 10*time.Minute {
			t.Errorf("the leader renewed its lease %v ago", age)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(at) != 49 {
			t.Errorf("%d calls in a day: %v", len(at), at)
		}
	})
}
