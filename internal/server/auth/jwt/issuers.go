package jwt

import (
	"context"
	"errors"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/token"
)

// remembered is how long a valid token is not verified again.
const remembered = 10 * time.Second

// issuers verify the tokens of one configuration.
type issuers struct {
	urls   sets.Set[string]
	tokens authenticator.Token
	ready  []func() error
	end    context.CancelFunc
}

// certificateAuthority is the content of a CA file.
type certificateAuthority string

// CurrentCABundleContent implements oidc.CAContentProvider.
func (c certificateAuthority) CurrentCABundleContent() []byte { return []byte(c) }

// newIssuers begins to ask the issuers for their keys, until ctx or end ends.
func newIssuers(ctx context.Context, config *apiserver.AuthenticationConfiguration, o Options) (*issuers, error) {
	ctx, end := context.WithCancel(ctx)
	all := &issuers{urls: sets.New[string](), end: end}
	var each []authenticator.Token
	for _, j := range config.JWT {
		one := oidc.Options{JWTAuthenticator: j, SupportedSigningAlgs: oidc.AllValidSigningAlgorithms(), DisallowedIssuers: o.ServiceAccountIssuers, APIServerID: o.Server}
		if o.File == "" {
			one.SupportedSigningAlgs = o.Issuer.SigningAlgorithms
		}
		if ca := j.Issuer.CertificateAuthority; ca != "" {
			one.CAContentProvider = certificateAuthority(ca)
		}
		a, err := oidc.New(ctx, one)
		if err != nil {
			end()
			return nil, err
		}
		each, all.ready = append(each, a), append(all.ready, a.HealthCheck)
		all.urls.Insert(j.Issuer.URL)
	}
	all.tokens = cache.New(union.NewFailOnError(each...), true, remembered, 0)
	return all, nil
}

// verify returns the identity of a token of the issuers, or nil.
func (i *issuers) verify(ctx context.Context, text string) (*token.Identity, error) {
	r, ok, err := i.tokens.AuthenticateToken(ctx, text)
	if !ok || err != nil {
		return nil, err
	}
	u := &auth.User{Name: r.User.GetName(), UID: r.User.GetUID(), Groups: r.User.GetGroups(), Extra: r.User.GetExtra()}
	return &token.Identity{User: auth.Authenticated(u)}, nil
}

// An UnreadyError is the error of Reload for a valid file with an issuer that does not answer.
type UnreadyError struct{ error }

// Unwrap returns the issuers' errors.
func (e UnreadyError) Unwrap() error { return e.error }

const (
	patience  = time.Minute
	pollEvery = 100 * time.Millisecond
)

// await waits until all issuers have answered, but not beyond the end of ctx. Error: UnreadyError.
func (i *issuers) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var errs []error
		for _, ready := range i.ready {
			errs = append(errs, ready())
		}
		err := utilerrors.NewAggregate(errs)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return UnreadyError{errors.Join(err, ctx.Err())}
		case <-time.After(pollEvery):
		}
	}
}
