package webhook

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/token"
)

// TokenOptions configure a Verifier of tokens.
type TokenOptions struct {
	// ConfigFile is a kubeconfig: its cluster is the server to ask, its user authenticates there.
	ConfigFile string
	// Version is that of the TokenReviews, v1 or v1beta1.
	Version string
	// TTL is how long answers are kept, of valid and of invalid tokens; with 0 no answer is kept.
	TTL time.Duration
}

type tokens struct {
	own   []string
	asked authenticator.Token
}

// NewTokens returns a Verifier that asks the server of the configuration file by TokenReviews. own are the audiences of the
// API server: a review that names none is for these. A token that is valid for other audiences alone is not of its
// kind. Failures of the server are errors and not kept; those that a retry may cure are tried four times more.
func NewTokens(o TokenOptions, own []string) (token.Verifier, error) {
	config, err := utilwebhook.LoadKubeconfig(o.ConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("the token webhook's configuration: %w", err)
	}
	w, err := webhook.New(config, o.Version, own, *webhook.DefaultRetryBackoff())
	if err != nil {
		return nil, fmt.Errorf("the token webhook: %w", err)
	}
	return tokens{own, cache.New(w, false, o.TTL, o.TTL)}, nil
}

// Verify implements token.Verifier.
func (t tokens) Verify(ctx context.Context, text string, audiences []string) (*token.Identity, error) {
	if len(audiences) == 0 {
		audiences = t.own
	}
	r, ok, err := t.asked.AuthenticateToken(authenticator.WithAudiences(ctx, audiences), text)
	if !ok || err != nil {
		return nil, err
	}
	u := &auth.User{Name: r.User.GetName(), UID: r.User.GetUID(), Groups: r.User.GetGroups(), Extra: r.User.GetExtra()}
	return &token.Identity{User: auth.Authenticated(u), Audiences: r.Audiences}, nil
}
