package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Names of the CAs.
const (
	caName         = "fairlead-ca"
	frontProxyName = "fairlead-front-proxy-ca"
)

// Authority has all keys of a control plane. Its own methods as a CA are those for the server and its clients.
type Authority struct {
	*CA
	front  *CA
	tokens atomic.Pointer[tokenKeys]
	// generation counts the changes of keys.
	generation atomic.Int64

	// mu guards the functions to call after a change.
	mu struct {
		sync.Mutex
		next  int
		calls map[int]func()
	}
}

// tokenKeys are not changed.
type tokenKeys struct {
	signing *ecdsa.PrivateKey
	retired []*ecdsa.PublicKey
}

// New makes an authority that is kept nowhere, whose certificates go by the clock now: time.Now, if not by virtual time.
func New(now func() time.Time) (*Authority, error) {
	own, err := newCA(caName, now)
	if err != nil {
		return nil, err
	}
	token, err := newKey()
	if err != nil {
		return nil, err
	}
	a := newAuthority(own, &tokenKeys{signing: token})
	_, err = a.Complete()
	return a, err
}

func newAuthority(own *CA, tokens *tokenKeys) *Authority {
	a := &Authority{CA: own}
	a.tokens.Store(tokens)
	a.mu.calls = map[int]func(){}
	return a
}

// Complete adds the parts that an authority from an earlier release lacks, and reports
// whether there were any.
func (a *Authority) Complete() (changed bool, err error) {
	if a.front != nil {
		return false, nil
	}
	a.front, err = newCA(frontProxyName, a.now)
	return err == nil, err
}

// FrontProxy is the CA for the certificates of front proxies, which may name the
// user of a request: of this server, when it proxies requests.
func (a *Authority) FrontProxy() *CA { return a.front }

// Trusted are the certificates of both CAs that peers trust, and Retired those that do not sign any more.
func (a *Authority) Trusted() []*x509.Certificate { return append(a.trusted(), a.front.trusted()...) }

// Retired returns retired certificates; see Trusted.
func (a *Authority) Retired() []*x509.Certificate {
	return slices.Concat(a.current.Load().retired, a.front.current.Load().retired)
}

// TokenKey signs service account tokens.
func (a *Authority) TokenKey() *ecdsa.PrivateKey { return a.tokens.Load().signing }

// RetiredTokenKeys verify tokens that were signed before the token key was rotated.
func (a *Authority) RetiredTokenKeys() (all []crypto.PublicKey) {
	for _, k := range a.tokens.Load().retired {
		all = append(all, k)
	}
	return all
}

// Equal reports whether both are the same authority with the same token key.
func (a *Authority) Equal(b *Authority) bool {
	return a.current.Load().cert.Equal(b.current.Load().cert) && a.TokenKey().Equal(b.TokenKey())
}

// Generation counts the changes of keys.
func (a *Authority) Generation() int64 { return a.generation.Load() }

// OnChange has f called after each change of keys until stop is called.
func (a *Authority) OnChange(f func()) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := a.mu.next
	a.mu.next++
	a.mu.calls[id] = f
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.mu.calls, id)
	}
}

// Adopt replaces the keys by those of another authority, which is not used any more.
func (a *Authority) Adopt(next *Authority) {
	a.adopt(next.CA)
	a.front.adopt(next.front)
	a.tokens.Store(next.tokens.Load())
	a.generation.Add(1)
	a.mu.Lock()
	var calls []func()
	for _, f := range a.mu.calls {
		calls = append(calls, f)
	}
	a.mu.Unlock()
	for _, f := range calls {
		f()
	}
}

// Same reports whether both have the same keys, retired ones included.
func (a *Authority) Same(b *Authority) bool {
	return a.same(b.CA) && a.front.same(b.front) && a.TokenKey().Equal(b.TokenKey()) &&
		slices.EqualFunc(a.tokens.Load().retired, b.tokens.Load().retired, func(x, y *ecdsa.PublicKey) bool { return x.Equal(y) })
}
