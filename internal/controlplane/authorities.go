package controlplane

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"fairlead.dev/internal/controlplane/pki"
	certutil "k8s.io/client-go/util/cert"
)

// authorities are the CAs of clients: those of a file and the server's own, which may change. Copies share both. The
// methods may be called from any goroutine.
type authorities struct {
	file *atomic.Pointer[[]byte] // the content of the file; empty without one
	own  []*pki.Authority
}

// newAuthorities returns those without a file.
func newAuthorities() authorities {
	a := authorities{file: &atomic.Pointer[[]byte]{}}
	a.file.Store(&[]byte{})
	return a
}

// load reads the file. If it is no list of certificates, load leaves the authorities alone.
func (a authorities) load(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := certutil.ParseCertsPEM(content); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	a.file.Store(&content)
	return nil
}

// pem returns all authorities.
func (a authorities) pem() []byte {
	all := slices.Clone(*a.file.Load())
	for _, own := range a.own {
		all = append(all, own.PEM()...)
	}
	return all
}

// generations counts the changes of the server's own.
func (a authorities) generations() (n int64) {
	for _, own := range a.own {
		n += own.Generation()
	}
	return n
}

// pool returns all authorities.
func (a authorities) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem())
	return pool
}

// with returns the authorities and another one of the server's own.
func (a authorities) with(own *pki.Authority) authorities {
	return authorities{a.file, append(slices.Clip(a.own), own)}
}

// latest returns a function that returns the result of build for the present authorities: it calls build again after a change. It may be called from any goroutine.
func latest[T any](build func() T, of ...authorities) func() T {
	type state struct {
		file        *[]byte
		generations int64
	}
	type built struct {
		states []state
		value  T
	}
	now := func(a authorities) state { return state{a.file.Load(), a.generations()} }
	var last atomic.Pointer[built]
	return func() T {
		b := last.Load()
		if b == nil || !slices.EqualFunc(b.states, of, func(s state, a authorities) bool { return s == now(a) }) {
			b = &built{}
			for _, a := range of {
				b.states = append(b.states, now(a))
			}
			b.value = build()
			last.Store(b)
		}
		return b.value
	}
}
