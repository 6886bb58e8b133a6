// Package cabundle has the CA certificates by which clients trust the API server, for controllers that publish them.
package cabundle

import (
	"context"

	"fairlead.dev/controller"
)

// Bundle are certificates that may change. Its functions may be called from any goroutine.
type Bundle struct {
	// PEM returns the certificates.
	PEM func() []byte
	// OnChange has f called after each change until stop is called; nil is for certificates that do not change.
	OnChange func(f func()) (stop func())
}

// Fixed returns a bundle that does not change.
func Fixed(pem []byte) Bundle { return Bundle{PEM: func() []byte { return pem }} }

// Empty reports whether there are no certificates.
func (b Bundle) Empty() bool { return len(b.PEM()) == 0 }

// Follow returns a Runner that calls f, which returns at once, at its start and after each change.
func (b Bundle) Follow(f func()) controller.Runner { return follower{b, f} }

type follower struct {
	bundle Bundle
	call   func()
}

// Run implements controller.Runner.
func (r follower) Run(ctx context.Context) error {
	if r.bundle.OnChange != nil {
		defer r.bundle.OnChange(r.call)()
	}
	r.call() // for a change before
	<-ctx.Done()
	return nil
}
