package leader_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
)

// TestClocksThatDisagree: whatever the time of the holder's clock, a lease that is not
// renewed expires by our own clock, from the moment when we saw it; one that is renewed
// does not expire, even if the holder's clock is set back each time.
func TestClocksThatDisagree(t *testing.T) {
	for name, off := range map[string]time.Duration{"agree": 0, "a day ahead": 24 * time.Hour, "a day behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := metav1.NewMicroTime(time.Now().Add(off))
				m := &memory{n: 1, lease: &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "work", ResourceVersion: "1"},
					Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other"), LeaseDurationSeconds: ptr.To[int32](15),
						AcquireTime: &at, RenewTime: &at, LeaseTransitions: ptr.To[int32](3)}}}
				c, err := client.New(&rest.Config{Transport: m}, client.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				led, done := make(chan struct{}), make(chan error, 1)
				go func() {
					done <- leader.Run(ctx, c, leader.Candidate{Namespace: "kube-system", Name: "work", Identity: "a", Log: slog.New(slog.DiscardHandler)}, func(ctx context.Context) error {
						close(led)
						<-ctx.Done()
						return nil
					})
				}()
				synctest.Wait()
				for range 5 { // it is renewed, and its clock is an hour earlier each time
					time.Sleep(14 * time.Second)
					synctest.Wait()
					m.mu.Lock()
					at = metav1.NewMicroTime(at.Add(-time.Hour))
					renewed := m.lease.DeepCopy()
					renewed.Spec.RenewTime, renewed.ResourceVersion = &at, "r"+renewed.ResourceVersion
					m.lease = renewed
					m.mu.Unlock()
				}
				select {
				case <-led:
					t.Fatal("the lease was taken while it was renewed")
				default:
				}
				last := time.Now()
				<-led
				if d := time.Since(last); d < 15*time.Second || d > 20*time.Second {
					t.Errorf("taken after %v, want the duration of 15s and one or two tries", d)
				}
				m.mu.Lock()
				if n := *m.lease.Spec.LeaseTransitions; n != 4 {
					t.Errorf("%d transitions, want 4", n)
				}
				m.mu.Unlock()
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
