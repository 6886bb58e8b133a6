package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Rotation is a change of an authority's keys.
type Rotation struct {
	// CA begins a rotation of both CAs, and TokenKey one of the token key.
	CA       bool `json:"ca,omitempty"`
	TokenKey bool `json:"serviceAccountKey,omitempty"`
	// Finish ends the trust in retired CAs and keys.
	Finish bool `json:"finish,omitempty"`
}

// Errors of Rotated.
var (
	ErrUnfinished = errors.New("an earlier rotation is not finished: the retired one is still trusted")
	ErrFinished   = errors.New("there is no rotation to finish")
)

// Rotated returns the authority after a rotation, for Save and Adopt. Errors: ErrUnfinished, ErrFinished.
func (a *Authority) Rotated(r Rotation) (*Authority, error) {
	next := newAuthority(caOf(a.current.Load(), a.now), a.tokens.Load())
	next.front = caOf(a.front.current.Load(), a.now)
	if r.Finish {
		return next, next.finish()
	}
	if r.CA {
		// One of the two may have been rotated by a process that was killed in between.
		if len(next.current.Load().retired) > 0 && len(next.front.current.Load().retired) > 0 {
			return nil, fmt.Errorf("CA: %w", ErrUnfinished)
		}
		if err := errors.Join(next.rotate(caName), next.front.rotate(frontProxyName)); err != nil {
			return nil, err
		}
	}
	if r.TokenKey {
		last := next.tokens.Load()
		if len(last.retired) > 0 {
			return nil, fmt.Errorf("service account key: %w", ErrUnfinished)
		}
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		next.tokens.Store(&tokenKeys{key, []*ecdsa.PublicKey{&last.signing.PublicKey}})
	}
	return next, nil
}

// finish drops retired CAs and keys.
func (a *Authority) finish() error {
	own, front, tokens := a.current.Load(), a.front.current.Load(), a.tokens.Load()
	if len(own.retired)+len(front.retired)+len(tokens.retired) == 0 {
		return ErrFinished
	}
	a.current.Store(&caKeys{cert: own.cert, key: own.key})
	a.front.current.Store(&caKeys{cert: front.cert, key: front.key})
	a.tokens.Store(&tokenKeys{signing: tokens.signing})
	return nil
}

// rotate makes new keys and retires the present ones, unless there are retired ones already.
func (c *CA) rotate(name string) error {
	last := c.current.Load()
	if len(last.retired) > 0 {
		return nil
	}
	now := c.now()
	next, err := newKeys(fmt.Sprintf("%s@%d", name, now.Unix()), now)
	if err != nil {
		return err
	}
	cross, err := last.crossSign(next.cert, now)
	if err != nil {
		return err
	}
	next.cross, next.retired = []*x509.Certificate{cross}, []*x509.Certificate{last.cert}
	c.current.Store(next)
	return nil
}

// crossSign returns a certificate of another CA's key and name, signed by this one and valid as long as both.
func (k *caKeys) crossSign(other *x509.Certificate, now time.Time) (*x509.Certificate, error) {
	t, err := authorityTemplate("", now)
	if err != nil {
		return nil, err
	}
	t.Subject, t.SubjectKeyId, t.NotAfter = other.Subject, other.SubjectKeyId, other.NotAfter
	if k.cert.NotAfter.Before(t.NotAfter) {
		t.NotAfter = k.cert.NotAfter
	}
	return sign(t, k.cert, other.PublicKey, k.key)
}
