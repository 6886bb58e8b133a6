package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
)

// TestMembersComeAndGo stops, kills and moves members of a cluster of three, while one store
// writes and another one watches.
func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	writer := c.open(t, etcd.Options{Timeout: 2 * time.Second})
	watched := c.open(t, etcd.Options{Timeout: 2 * time.Second})
	h := begin(t, writer, watched)
	h.progress(50)

	t.Log("strangers knock")
	strange := c[0].tls.Clone()
	strange.Certificates = nil
	for what, config := range map[string]*tls.Config{"no certificate": strange, "no trust": {}} {
		for timeout := time.Second; ; timeout *= 2 {
			_, err := etcd.Open(t.Context(), etcd.Options{Endpoints: []string{c[0].url()}, TLS: config, Timeout: timeout})
			if !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s: %v", what, err)
			} else if what == "no trust" && !strings.Contains(err.Error(), "certificate signed by unknown authority") {
				if timeout < patience { // a short timeout can end before the TLS handshake
					continue
				}
				t.Errorf("%s: %v", what, err) // the other's refusal may be lost with the connection
			}
			break
		}
	}

	t.Log("the history is compacted under the watcher, which has seen it")
	seen := writer.Revision()
	h.take(seen)
	if err := writer.Compact(t.Context(), seen); err != nil {
		t.Error(err)
	}
	h.progress(50)
	if _, err := watched.Watch(storage.WatchRequest{Start: "/h/", End: "/h0", After: seen - 1}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("a watcher that has not: %v", err)
	}

	t.Log("the leader is moved")
	c.move(t)
	h.progress(50)

	t.Log("a member hangs")
	c.waitHealthy(t)
	_, follower := c.leader(t)
	follower.signal(t, syscall.SIGSTOP)
	for range 6 {
		answers(t, "Current while a member hangs", func() error { _, err := watched.Current(t.Context()); return err })
		answers(t, "Range while a member hangs", func() error {
			_, err := watched.Range(t.Context(), storage.RangeRequest{Start: "/h/", End: "/h0"})
			return err
		})
	}
	h.take(writer.Revision())
	follower.signal(t, syscall.SIGCONT)
	h.progress(50)

	t.Log("a member is killed")
	follower.kill()
	h.progress(50)
	h.take(writer.Revision())
	follower.start(t)

	leader := c.waitHealthy(t)
	t.Log("the leader is killed")
	leader.kill()
	h.progress(50)
	h.take(writer.Revision())

	t.Log("the majority is lost")
	var left []*member
	for _, m := range c {
		if m != leader {
			left = append(left, m)
		}
	}
	left[0].kill()
	awaitUnavailable(t, watched)
	if b, err := h.cursor.Next(); err != nil {
		t.Errorf("the cursor without a majority: %v", err)
	} else {
		h.seen = append(h.seen, b.Events...)
	}
	ctx := t.Context()
	for what, call := range map[string]func() error{
		"Range": func() error { _, err := watched.Range(ctx, storage.RangeRequest{Start: "/h/b"}); return err },
		"Watch": func() error {
			_, err := watched.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd})
			return err
		},
		"Current": func() error { _, err := watched.Current(ctx); return err },
		"Commit": func() error {
			_, err := watched.Commit(ctx, storage.Txn{Then: []storage.Op{{Key: "/lost", Value: []byte("x")}}})
			return err
		},
		"Compact": func() error { return watched.Compact(ctx, watched.Revision()) },
		"Grant":   func() error { _, err := watched.Grant(ctx, 0, time.Minute); return err },
		"Revoke":  func() error { return watched.Revoke(ctx, 7) },
		"Err":     watched.Err,
	} {
		wantUnavailable(t, what, call)
	}

	t.Log("and is there again")
	left[0].start(t)
	leader.start(t)
	h.progress(50)
	h.end()
}

// waitHealthy waits until every member answers and knows the leader, and returns
// the leader.
func (c cluster) waitHealthy(t *testing.T) *member {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		healthy := true
		for _, m := range c {
			one := cluster{m}
			ctx, cancel := context.WithDeadline(t.Context(), deadline)
			s, err := etcd.Open(ctx, etcd.Options{Endpoints: []string{one[0].url()}, TLS: m.tls, Timeout: 2 * time.Second, History: -1})
			cancel()
			if err != nil {
				healthy = false
				continue
			}
			s.Close()
		}
		if healthy {
			leader, _ := c.leader(t)
			return leader
		}
		if time.Now().After(deadline) {
			t.Fatal("the cluster does not get well")
		}
	}
}

// answers requires a call to succeed, unless it was given up only because this program, or the
// whole cluster, was not run for a while.
func answers(t *testing.T, what string, call func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		err := call()
		if err == nil {
			return
		}
		if !errors.Is(err, storage.ErrUnavailable) || time.Now().After(deadline) {
			t.Errorf("%s: %v", what, err)
			return
		}
	}
}

// awaitUnavailable returns when a store has noticed that there is no majority.
func awaitUnavailable(t *testing.T, s *etcd.Store) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		_, err := s.Current(t.Context())
		if errors.Is(err, storage.ErrUnavailable) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("Current without a majority: %v", err)
		}
	}
}

// wantUnavailable requires the error, and within a bounded time.
func wantUnavailable(t *testing.T, what string, call func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s without a majority: %v, want ErrUnavailable", what, err)
		}
	case <-time.After(patience):
		t.Errorf("%s without a majority does not return", what)
	}
}
