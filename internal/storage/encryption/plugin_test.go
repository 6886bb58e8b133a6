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

// TestPluginRests: after a failure callers get it at once for a second, and then one of them asks again. Values whose data
// key is known are decrypted all the same.
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
		ask := func(decrypt func(context.Context) error, code codes.Code, took time.Duration) {
			t.Helper()
			began := time.Now()
			if err := p.ask(t.Context(), decrypt); status.Code(err) != code || time.Since(began) != took {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(began), code, took)
			}
		}
		ask(unknown, codes.Unavailable, 300*time.Millisecond)
		ask(unknown, codes.Unavailable, 0)
		ask(known, codes.OK, 0)
		time.Sleep(time.Second)
		done := make(chan error)
		go func() { done <- p.ask(t.Context(), unknown) }()
		synctest.Wait()
		ask(unknown, codes.Unavailable, 0) // another one asks
		if err := <-done; status.Code(err) != codes.Unavailable || asked != 2 {
			t.Errorf("%v, asked %d times", err, asked)
		}
		silent = false
		time.Sleep(time.Second)
		ask(unknown, codes.OK, 300*time.Millisecond)
		ask(unknown, codes.OK, 300*time.Millisecond)
		broken := errors.New("the value is broken")
		if err := p.ask(t.Context(), func(context.Context) error { return broken }); err != broken {
			t.Error(err)
		}
		ask(unknown, codes.OK, 300*time.Millisecond)
	})
}
