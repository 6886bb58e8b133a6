package encryption

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestPluginRests: after a failure callers get it at once for a second, and then one of those that ask again does; others
// get it for a minute. Values whose data key is known are decrypted all the same.
func TestPluginRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p plugin
		silent := true
		asked := 0
		unknown := func(ctx context.Context) error {
			if err := ctx.Err(); err != nil {
				return status.FromContextError(err).Err()
			}
			asked++
			time.Sleep(300 * time.Millisecond)
			if silent {
				return status.Error(codes.Unavailable, "silent")
			}
			return nil
		}
		known := func(context.Context) error { return nil }
		ask := func(again bool, decrypt func(context.Context) error, code codes.Code, took time.Duration) {
			t.Helper()
			began := time.Now()
			if err := p.ask(t.Context(), again, decrypt); status.Code(err) != code || time.Since(began) != took {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(began), code, took)
			}
		}
		ask(true, unknown, codes.Unavailable, 300*time.Millisecond)
		ask(true, unknown, codes.Unavailable, 0)
		ask(true, known, codes.OK, 0)
		time.Sleep(time.Second)
		done := make(chan error)
		go func() { done <- p.ask(t.Context(), true, unknown) }()
		synctest.Wait()
		ask(true, unknown, codes.Unavailable, 0) // another one asks
		if err := <-done; status.Code(err) != codes.Unavailable || asked != 2 {
			t.Errorf("%v, asked %d times", err, asked)
		}
		time.Sleep(2 * time.Second)
		ask(false, unknown, codes.Unavailable, 0)
		ask(false, known, codes.OK, 0)
		time.Sleep(time.Minute)
		ask(false, unknown, codes.Unavailable, 300*time.Millisecond)
		silent = false
		time.Sleep(time.Second)
		ask(true, unknown, codes.OK, 300*time.Millisecond)
		ask(true, unknown, codes.OK, 300*time.Millisecond)
		broken := errors.New("the value is broken")
		if err := p.ask(t.Context(), true, func(context.Context) error { return broken }); err != broken {
			t.Error(err)
		}
		ask(true, unknown, codes.OK, 300*time.Millisecond)
	})
}
