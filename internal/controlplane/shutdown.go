package controlplane

import (
	"context"
	"errors"
	"time"
)

// The time that each side gets to end well; together they stay below the two
// seconds that Stop promises.
const (
	clientsPatience  = 700 * time.Millisecond
	requestsPatience = 700 * time.Millisecond
)

// shutdown ends what start has begun, as far as it came: first the client side,
// while the server still answers it; then the watches, which would never end by
// themselves; then the requests under way; the store last.
func (cp *ControlPlane) shutdown() error {
	var errs []error
	if cp.clients != nil {
		cp.stopClients()
		errs = append(errs, within(clientsPatience, cp.clients.Wait))
	}
	if cp.serving != nil {
		cp.stopServing()
		cp.etcd.close()
		cp.socket.close()
		ctx, cancel := context.WithTimeout(context.Background(), requestsPatience)
		if err := cp.http.Shutdown(ctx); err != nil {
			cp.http.Close()
		}
		cancel()
		errs = append(errs, cp.serving.Wait())
	} else if cp.listener != nil {
		cp.listener.Close()
		cp.etcd.close()
	}
	if cp.store != nil {
		errs = append(errs, cp.store.Close())
	}
	return errors.Join(ignoreCancel(errs)...)
}

// within waits for f no longer than d. What f waits for goes on by itself; the
// server it speaks to is about to end.
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

// ignoreCancel leaves out what only says that it was told to stop.
func ignoreCancel(errs []error) []error {
	var real []error
	for _, err := range errs {
		if !errors.Is(err, context.Canceled) {
			real = append(real, err)
		}
	}
	return real
}
