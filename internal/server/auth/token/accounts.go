package token

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/rawmem"
	"fairlead.dev/internal/remember"
	"fairlead.dev/internal/server/auth"
)

// Living returns an object if it exists and is not expired. The object must not be modified.
type Living func(ctx context.Context, gr schema.GroupResource, namespace, name string) (metav1.Object, bool)

// LivingIn returns a Living over l. A terminating object counts for a minute beyond its deletion time, to tolerate
// clock skew.
func LivingIn(l auth.Lookup) Living {
	return func(ctx context.Context, gr schema.GroupResource, namespace, name string) (metav1.Object, bool) {
		obj, err := l.Get(ctx, gr, namespace, name)
		if err != nil {
			return nil, false
		}
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, false
		}
		if d := m.GetDeletionTimestamp(); d != nil && time.Since(d.Time) > jwt.DefaultLeeway {
			return nil, false
		}
		return m, true
	}
}

var (
	serviceAccounts = schema.GroupResource{Resource: "serviceaccounts"}
	pods            = schema.GroupResource{Resource: "pods"}
	secrets         = schema.GroupResource{Resource: "secrets"}
	nodes           = schema.GroupResource{Resource: "nodes"}
)

// Accounts verifies the tokens signed by an Issuer.
type Accounts struct {
	// MaxExpiration bounds how long requested tokens are valid; 0 is no bound. It is set before the first request.
	MaxExpiration time.Duration
	// MaxExtended bounds how long the tokens of pods are valid that were not asked to be valid for long; 0 is a year. It is
	// set before the first request.
	MaxExtended time.Duration
	// NoExtension lets the tokens of pods expire when they say so. It is set before the first request.
	NoExtension bool
	// Generation counts changes of the issuer's keys, after which the signatures of known tokens are verified again. It is set
	// before the first request; nil is for keys that do not change.
	Generation func() int64
	// Used, if set, is called for each use of a token that a Secret stores. It is set before the first request.
	Used func(context.Context, SecretUse)
	// Aged, if set, is called for each use of a token that names a time from which on its client should have a newer one: with the
	// user name of the account, and how long ago that time was. It is set before the first request.
	Aged func(ctx context.Context, subject string, late time.Duration)

	issuer    *Issuer
	audiences []string
	living    Living
	now       func() time.Time
	seen      atomic.Pointer[verified]
}

// verified are the bearers of tokens whose signatures have been verified by one generation of keys.
type verified struct {
	generation int64
	*remember.Memory[*bearer]
}

// verified returns the bearers known to the present keys. A token that is being verified by former keys is put among those of
// the former generation, which end with it.
func (a *Accounts) verified() *verified {
	generation := int64(0)
	if a.Generation != nil {
		generation = a.Generation()
	}
	seen := a.seen.Load()
	if seen == nil || seen.generation != generation {
		seen = &verified{generation, remember.New[*bearer](65536, nil)}
		a.seen.Store(seen)
	}
	return seen
}

// NewAccounts returns a Verifier of the issuer's tokens. audiences are those of the API server itself; the first is
// the default for issued tokens.
func NewAccounts(i *Issuer, audiences []string, living Living) *Accounts {
	return &Accounts{issuer: i, audiences: audiences, living: living, now: time.Now}
}

// bearer is a decoded token with its user. Both are shared.
type bearer struct {
	*Claims
	user   *auth.User
	secret string // the Secret that stores the token, or ""
}

// Verify implements Verifier.
func (a *Accounts) Verify(ctx context.Context, token string, audiences []string) (*Identity, error) {
	seen := a.verified()
	c, ok := seen.Get(rawmem.Bytes(token))
	if !ok {
		var err error
		if c, err = a.issuer.read(ctx, token, a.audiences); c == nil {
			return nil, err
		}
		seen.Put([]byte(token), c, a.now().Add(10*time.Minute))
	}
	if len(audiences) == 0 {
		audiences = a.audiences
	}
	shared := intersect(audiences, c.Audience)
	if len(shared) == 0 {
		return nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(c.Audience), audiences)
	}
	if err := c.ValidateWithLeeway(jwt.Expected{Time: a.now()}, jwt.DefaultLeeway); err != nil {
		return nil, timeError(err)
	}
	if err := a.bound(ctx, c.Kubernetes); err != nil {
		return nil, err
	}
	if c.secret != "" {
		if err := a.kept(ctx, c, token); err != nil {
			return nil, err
		}
	}
	if after := c.Kubernetes.WarnAfter; after != nil && *after != 0 && a.Aged != nil {
		a.Aged(ctx, c.Subject, a.now().Sub(after.Time()))
	}
	return &Identity{User: c.user, Audiences: shared}, nil
}

func timeError(err error) error {
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return errors.New("service account token has expired")
	case errors.Is(err, jwt.ErrNotValidYet):
		return errors.New("service account token is not valid yet")
	case errors.Is(err, jwt.ErrIssuedInTheFuture):
		return errors.New("service account token is issued in the future")
	}
	return errors.New("service account token claims could not be validated")
}

// bound returns an error unless the objects that the token is bound to exist.
func (a *Accounts) bound(ctx context.Context, b Binding) error {
	account, ok := a.living(ctx, serviceAccounts, b.Namespace, b.ServiceAccount.Name)
	if !ok {
		return fmt.Errorf("service account %s/%s has been deleted", b.Namespace, b.ServiceAccount.Name)
	}
	if uid := string(account.GetUID()); uid != b.ServiceAccount.UID {
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", uid, b.ServiceAccount.UID)
	}
	for _, o := range []struct {
		gr        schema.GroupResource
		namespace string
		ref       *Ref
	}{
		{secrets, b.Namespace, b.Secret},
		{pods, b.Namespace, b.Pod},
		{nodes, "", b.Node},
	} {
		if o.ref == nil || o.gr == nodes && b.Pod != nil {
			continue // beside a pod, the node is only information
		}
		if obj, ok := a.living(ctx, o.gr, o.namespace, o.ref.Name); !ok || string(obj.GetUID()) != o.ref.UID {
			return errors.New("service account token has been invalidated")
		}
	}
	return nil
}

func user(c *Claims) *auth.User {
	b := c.Kubernetes
	u := &auth.User{
		Name:   auth.ServiceAccountUser(b.Namespace, b.ServiceAccount.Name),
		UID:    b.ServiceAccount.UID,
		Groups: append(auth.ServiceAccountGroups(b.Namespace), auth.AllAuthenticated),
		Extra:  map[string][]string{},
	}
	if c.ID != "" {
		u.Extra[auth.CredentialID] = []string{credentialID(c.ID)}
	}
	if b.Pod != nil {
		u.Extra[auth.PodName] = []string{b.Pod.Name}
		u.Extra[auth.PodUID] = []string{b.Pod.UID}
	}
	if b.Node != nil {
		u.Extra[auth.NodeName] = []string{b.Node.Name}
		if b.Node.UID != "" {
			u.Extra[auth.NodeUID] = []string{b.Node.UID}
		}
	}
	return u
}

func intersect(a, b []string) []string {
	var both []string
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	return both
}

// credentialID identifies the token of an ID, in the form of the extra key CredentialID.
func credentialID(id string) string { return "JTI=" + id }
