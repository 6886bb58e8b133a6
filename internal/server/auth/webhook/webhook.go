// Package webhook asks other servers: about the rights of a user with SubjectAccessReviews, as kube-apiserver does for
// authorizers of type Webhook, and about tokens with TokenReviews, as with --authentication-token-webhook-config-file.
//
// # Concurrency
//
// An Authorizer and a Verifier may be used from any goroutine. They keep answers for the configured times. Concurrent
// requests with the same token share one TokenReview.
package webhook

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/cel"
	utilwebhook "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook"
	"k8s.io/apiserver/plugin/pkg/authorizer/webhook/metrics"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/upstream"
)

type webhookAuthorizer struct{ upstream *webhook.WebhookAuthorizer }

// webhookMetrics are those of kube-apiserver, which counts the evaluations of webhooks, and not their HTTP requests.
type webhookMetrics struct {
	metrics.NoopRequestMetrics
	metrics.WebhookMetrics
	cel.MatcherMetrics
}

// New returns the Authorizer of a valid configuration of type Webhook. If the server does not answer, the decision is that of
// the failure policy.
func New(c apiserver.AuthorizerConfiguration, compiler cel.Compiler) (auth.Authorizer, error) {
	if c.Webhook.ConnectionInfo.KubeConfigFile == nil {
		return nil, errors.New("connectionInfo.type: want KubeConfigFile, the API server does not run in a pod")
	}
	config, err := utilwebhook.LoadKubeconfig(*c.Webhook.ConnectionInfo.KubeConfigFile, nil)
	if err != nil {
		return nil, fmt.Errorf("the authorization webhook's configuration: %w", err)
	}
	config.Timeout = c.Webhook.Timeout.Duration
	onError := authorizer.DecisionNoOpinion
	if c.Webhook.FailurePolicy == apiserver.FailurePolicyDeny {
		onError = authorizer.DecisionDeny
	}
	allowed, denied := c.Webhook.AuthorizedTTL.Duration, c.Webhook.UnauthorizedTTL.Duration
	if !c.Webhook.CacheAuthorizedRequests {
		allowed = 0
	}
	if !c.Webhook.CacheUnauthorizedRequests {
		denied = 0
	}
	counted := webhookMetrics{WebhookMetrics: metrics.NewWebhookMetrics(), MatcherMetrics: cel.NewMatcherMetrics()}
	w, err := webhook.New(config, c.Webhook.SubjectAccessReviewVersion, allowed, denied, *webhook.DefaultRetryBackoff(), onError, c.Webhook.MatchConditions, c.Name, counted, compiler)
	if err != nil {
		return nil, fmt.Errorf("the authorization webhook: %w", err)
	}
	return webhookAuthorizer{w}, nil
}

func (w webhookAuthorizer) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	decision, reason, err := w.upstream.Authorize(ctx, upstream.Attributes(a))
	return upstream.FromDecision(decision), reason, err
}
