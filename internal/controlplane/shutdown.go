package controlplane

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// The time for each side to end gracefully; together less than the two seconds that Stop
// promises.
const (
	clientsPatience  = 700 * time.Millisecond
	requestsPatience = 700 * time.Millisecond
)

// auditPatience is the time for the audit events that wait in buffers to be written.
const auditPatience = 10 * time.Second

// shutdown ends the parts that start has started so far: first the client side, while the
// server still answers it; then the watches, which would not end by themselves; then the
// requests in progress and their audit events; the store last.
//
// With a Termination, /readyz fails first, and the requests in progress end before the watches.
func (cp *ControlPlane) shutdown() error {
	var errs []error
	if cp.drain != nil && cp.http != nil {
		cp.server.BeginShutdown()
		time.Sleep(cp.drain.Delay)
	}
	if cp.clients != nil {
		cp.sleeper.close()
		cp.stopClients()
		errs = append(errs, within(clientsPatience, cp.clients.Wait))
	}
	cp.registration.close()
	cp.lease.close(!cp.options.InMemory)
	if cp.serving != nil {
		cp.drainRequests()
		cp.stopServing()
		cp.etcd.close()
		cp.socket.close()
		cp.endRequests()
		errs = append(errs, cp.serving.Wait())
	} else if cp.listener != nil {
		cp.listener.Close()
		cp.etcd.close()
	}
	if cp.auditor != nil {
		_ = within(auditPatience, func() error { cp.auditor.Close(); return nil })
	}
	cp.closeTracing()
	cp.addresses.close()
	if cp.beforeClose != nil {
		cp.beforeClose()
	}
	if cp.store != nil {
		errs = append(errs, cp.store.Close())
	}
	for _, s := range cp.shards {
		errs = append(errs, s.Close())
	}
	cp.keys.Close()
	cp.credentials.uses.close()
	return errors.Join(ignoreCancel(errs)...)
}

// drainRequests closes the port, or refuses new requests, waits for those in progress, and then ends the watches if that takes time.
func (cp *ControlPlane) drainRequests() {
	if cp.drain == nil || cp.http == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(cp.options.Limits.RequestTimeout, time.Minute))
	defer cancel()
	if !cp.drain.RetryAfter {
		go cp.http.Shutdown(ctx) // does not return before the watches end
	}
	cp.drain.wait(ctx)
	if cp.drain.Watches > 0 {
		cp.drain.endWatches(cp.server)
	}
}

// endRequests ends the requests in progress.
func (cp *ControlPlane) endRequests() {
	if cp.http == nil {
		_ = within(requestsPatience, cp.entrance.close)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestsPatience)
	defer cancel()
	if err := cp.http.Shutdown(ctx); err != nil {
		cp.http.Close()
	}
}

// within waits for f, but no longer than d. f may continue afterwards; the server that it
// calls is about to end.
func within(d time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return nil
	}
}

// ignoreCancel drops errors that only report cancellation.
func ignoreCancel(errs []error) []error {
	var real []error
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			real = append(real, err)
		}
	}
	return real
}
