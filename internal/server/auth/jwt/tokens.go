package jwt

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/server/options/authenticationconfig/metrics"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"fairlead.dev/internal/server/auth/token"
)

// MetricPrefixes begin the names of upstream's metrics of issuers and of the file, which are in the registry of
// component-base.
var MetricPrefixes = []string{"apiserver_authentication_config_controller_", "apiserver_authentication_jwt_authenticator_"}

// Options configure Tokens.
type Options struct {
	// File is an AuthenticationConfiguration of apiserver.config.k8s.io; "" uses Issuer.
	File   string
	Issuer Issuer
	// ServiceAccountIssuers cannot be issuers of the configuration.
	ServiceAccountIssuers []string
	// Server is the identity of the API server in metrics.
	Server string
}

// Tokens verifies the tokens of the issuers of a configuration. It implements token.Verifier.
type Tokens struct {
	options   Options
	anonymous *apiserver.AnonymousAuthConfig
	ctx       context.Context
	end       context.CancelFunc
	current   atomic.Pointer[issuers]

	mu struct { // held by Reload
		sync.Mutex
		text string
	}
}

// New returns Tokens, which ask the issuers for their keys until Close.
func New(o Options) (*Tokens, error) {
	t := &Tokens{options: o}
	t.ctx, t.end = context.WithCancel(context.Background())
	config, text, err := t.read()
	if err == nil {
		var first *issuers
		if first, err = newIssuers(t.ctx, config, o); err == nil {
			t.current.Store(first)
			t.mu.text, t.anonymous = text, config.Anonymous
		}
	}
	if err != nil {
		t.end()
		return nil, err
	}
	if o.File != "" {
		metrics.RegisterMetrics()
		metrics.RecordAuthenticationConfigLastConfigInfo(o.Server, text)
	}
	return t, nil
}

func (t *Tokens) read() (config *apiserver.AuthenticationConfiguration, text string, err error) {
	if t.options.File == "" {
		config, err = t.options.Issuer.configuration()
	} else if config, text, err = load(t.options.File); err != nil {
		err = fmt.Errorf("failed to load authentication configuration from file %q: %w", t.options.File, err)
	}
	if err != nil {
		return nil, "", err
	}
	return config, text, check(config, t.options.ServiceAccountIssuers)
}

// Anonymous is the part of the file about requests without credentials; nil if it has none. A reload does not change it.
func (t *Tokens) Anonymous() *apiserver.AnonymousAuthConfig { return t.anonymous }

// Verify implements token.Verifier.
func (t *Tokens) Verify(ctx context.Context, text string, _ []string) (*token.Identity, error) {
	return t.current.Load().verify(ctx, text)
}

// Close ends the requests to the issuers.
func (t *Tokens) Close() { t.end() }

// Reload reads the file again, and waits until its issuers answer, but no longer than a minute and not beyond the end of
// ctx. It leaves the former file in force if this fails. Error: UnreadyError.
func (t *Tokens) Reload(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, err := t.replace(ctx)
	switch {
	case err != nil:
		metrics.RecordAuthenticationConfigAutomaticReloadFailure(t.options.Server)
	case text != t.mu.text:
		metrics.RecordAuthenticationConfigAutomaticReloadSuccess(t.options.Server, text)
		t.mu.text = text
	}
	return err
}

// replace puts the issuers of a changed file in the place of the former ones.
func (t *Tokens) replace(ctx context.Context) (string, error) {
	config, text, err := t.read()
	if err != nil || text == t.mu.text {
		return text, err
	}
	if !reflect.DeepEqual(config.Anonymous, t.anonymous) {
		return "", errors.New("anonymous: Forbidden: changed from initial configuration file")
	}
	next, err := newIssuers(t.ctx, config, t.options)
	if err != nil {
		return "", err
	}
	if err := next.await(ctx); err != nil {
		next.end()
		return "", err
	}
	t.retire(t.current.Swap(next), next)
	return text, nil
}

// lastRequests is how long requests may use issuers that have been replaced.
const lastRequests = time.Minute

// retire ends issuers that have been replaced by next, once no request uses them.
func (t *Tokens) retire(old, next *issuers) {
	time.AfterFunc(lastRequests, func() {
		old.end()
		for url := range old.urls.Difference(next.urls) {
			if !t.current.Load().urls.Has(url) {
				oidc.DeleteJWKSFetchMetrics(url, t.options.Server)
			}
		}
	})
}
