package controlplane

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	certutil "k8s.io/client-go/util/cert"
)

// authorities are the CAs of clients: those of a file, which may change, and the server's own. Copies share the file. The
// methods may be called from any goroutine.
type authorities struct {
	file *atomic.Pointer[[]byte] // the content of the file; empty without one
	own  []byte
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
func (a authorities) pem() []byte { return slices.Concat(*a.file.Load(), a.own) }

// pool returns all authorities.
func (a authorities) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.pem())
	return pool
}

// with returns the authorities and another one of the server's own.
func (a authorities) with(own []byte) authorities {
	return authorities{a.file, slices.Concat(a.own, own)}
}

// latest returns a function that returns the result of build for the present content of the files: it calls build again after a
// change. It may be called from any goroutine.
func latest[T any](build func() T, of ...authorities) func() T {
	type built struct {
		files []*[]byte
		value T
	}
	var last atomic.Pointer[built]
	return func() T {
		b := last.Load()
		if b == nil || !slices.EqualFunc(b.files, of, func(file *[]byte, a authorities) bool { return a.file.Load() == file }) {
			b = &built{}
			for _, a := range of {
				b.files = append(b.files, a.file.Load())
			}
			b.value = build()
			last.Store(b)
		}
		return b.value
	}
}
