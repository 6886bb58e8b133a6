package leader_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
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

// record is a record of the holder in memory.
type record struct {
	mu      sync.Mutex // guards the rest
	gone    string
	changed chan struct{}
	held    []string // resourceVersions
	fails   error
	cancel  context.CancelFunc
}

func (r *record) Hold(ctx context.Context, version string) (context.Context, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, version)
	ctx, r.cancel = context.WithCancel(ctx)
	return ctx, r.cancel, r.fails
}

func (r *record) Gone(identity string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone == identity
}

func (r *record) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *record) set(gone string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = gone
	close(r.changed)
	r.changed = make(chan struct{})
}

// renew writes the lease of another holder, with a duration of an hour.
func (m *memory) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.lease = &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work", ResourceVersion: strconv.Itoa(m.n)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other"), LeaseDurationSeconds: ptr.To[int32](3600)},
	}
}

// TestHolderIsGone: a candidate takes the lease of a holder that is recorded as gone, unless the holder renews the lease all the same.
func TestHolderIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, r := &memory{}, &record{changed: make(chan struct{})}
		m.renew()
		ctx, stop := context.WithCancel(t.Context())
		leads, done := make(chan context.Context, 10), make(chan error, 1)
		c, err := client.New(&rest.Config{Transport: http.RoundTripper(m)}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			done <- leader.Run(ctx, c, leader.Candidate{Namespace: "default", Name: "work", Identity: "me", Record: r}, func(ctx context.Context) error {
				leads <- ctx
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		quiet := func(d time.Duration) {
			t.Helper()
			time.Sleep(d)
			if synctest.Wait(); len(leads) > 0 {
				t.Fatal("took the lease")
			}
		}
		quiet(10 * time.Minute)
		r.set("another")
		quiet(time.Minute)
		r.set("other")
		for range 10 {
			m.renew()
			quiet(time.Second)
		}
		begin := time.Now()
		work := <-leads
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took the lease %s after the last renewal", took)
		}
		r.mu.Lock()
		if len(r.held) != 1 || r.held[0] != strconv.Itoa(m.n) {
			t.Errorf("recorded %v", r.held)
		}
		r.gone = ""
		// Another process is recorded as the holder, and has the lease.
		m.renew()
		r.cancel()
		r.mu.Unlock()
		<-work.Done()
		quiet(10 * time.Minute)

		// Without a record there is no work, and it is tried again.
		r.mu.Lock()
		r.fails = errors.New("the store is away")
		r.mu.Unlock()
		r.set("other")
		quiet(time.Minute)
		r.mu.Lock()
		n := len(r.held)
		r.fails = nil
		r.mu.Unlock()
		if n < 10 || n > 60 {
			t.Errorf("recorded %d times in a minute", n)
		}
		work = <-leads
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) || work.Err() == nil {
			t.Errorf("%v", err)
		}
	})
}
