package webhook

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"fairlead.dev/internal/server/reach"
)

// Caller posts to webhooks other than admission webhooks, by the same rules: services are resolved here, and
// connections are reused. It is safe for concurrent use.
type Caller struct{ clients *clients }

// NewCaller returns a Caller that resolves and dials webhooks by n.
func NewCaller(n *reach.Network) *Caller { return &Caller{newClients(n, nil)} }

// Post sends a body to the webhook and returns the body of the response.
func (c *Caller) Post(ctx context.Context, config *admissionv1.WebhookClientConfig, body []byte) ([]byte, error) {
	client, url, err := c.clients.of(config)
	if err != nil {
		return nil, err
	}
	return exchange(ctx, client, url, body)
}
