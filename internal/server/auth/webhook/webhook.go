// Package webhook asks other servers: about the rights of a user with SubjectAccessReviews, as kube-apiserver does with
// --authorization-mode=Webhook, and about tokens with TokenReviews, as with --authentication-token-webhook-config-file.
//
// # Concurrency
//
// An Authorizer and a Verifier may be used from any goroutine. They keep answers for the configured times. Concurrent
// requests with the same token share one TokenReview.
package webhook

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/cel"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/upstream"
)

// Options configure an Authorizer.
type Options struct {
	// ConfigFile is a kubeconfig: its cluster is the server to ask, its user authenticates there.
	ConfigFile string
	// Version is that of the SubjectAccessReviews, v1 or v1beta1.
	Version string
	// AllowedTTL and DeniedTTL are how long decisions are kept.
	AllowedTTL, DeniedTTL time.Duration
}

type webhookAuthorizer struct{ upstream *webhook.WebhookAuthorizer }

// New returns an Authorizer that asks the server of the configuration file. A server that does not answer gives no
// opinion: other authorizers may still allow the request.
func New(o Options) (auth.Authorizer, error) {
	config, err := utilwebhook.LoadKubeconfig(o.ConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("the authorization webhook's configuration: %w", err)
	}
	w, err := webhook.New(config, o.Version, o.AllowedTTL, o.DeniedTTL, *webhook.DefaultRetryBackoff(),
		authorizer.DecisionNoOpinion, nil, "authorization-webhook", metrics.NoopAuthorizerMetrics{}, cel.NewDefaultCompiler())
	if err != nil {
		return nil, fmt.Errorf("the authorization webhook: %w", err)
	}
	return webhookAuthorizer{w}, nil
}

func (w webhookAuthorizer) Authorize(ctx context.Context, a auth.Attributes) (bool, string, error) {
	decision, reason, err := w.upstream.Authorize(ctx, upstream.Attributes(a))
	return decision == authorizer.DecisionAllow, reason, err
}
