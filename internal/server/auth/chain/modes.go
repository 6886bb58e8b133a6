package chain

import (
	"strings"
	"time"

	"k8s.io/apiserver/pkg/apis/apiserver"
)

// Modes are the authorizers that kube-apiserver's --authorization-mode and --authorization-webhook flags configure.
type Modes struct {
	// Types are asked in this order, each once.
	Types []string
	// PolicyFile has the policies of the authorizer ABAC.
	PolicyFile string
	// WebhookFile is the kubeconfig of the webhook: its cluster is the server to ask, its user authenticates there.
	WebhookFile string
	// WebhookVersion is that of the SubjectAccessReviews, v1 or v1beta1.
	WebhookVersion string
	// AllowedTTL and DeniedTTL are how long decisions of the webhook are kept; with 0 they are not.
	AllowedTTL, DeniedTTL time.Duration
}

// webhookTimeout is how long the webhook may take.
const webhookTimeout = 30 * time.Second

// OfModes returns the Chain of the authorizers. A webhook that does not answer has no opinion.
func OfModes(m Modes) (*Chain, error) {
	config := &apiserver.AuthorizationConfiguration{}
	for _, kind := range m.Types {
		a := apiserver.AuthorizerConfiguration{Type: apiserver.AuthorizerType(kind), Name: strings.ToLower(kind)}
		if kind == Webhook {
			a.Name, a.Webhook = "default", &apiserver.WebhookConfiguration{
				SubjectAccessReviewVersion: m.WebhookVersion, FailurePolicy: apiserver.FailurePolicyNoOpinion,
				CacheAuthorizedRequests: m.AllowedTTL > 0, CacheUnauthorizedRequests: m.DeniedTTL > 0,
				ConnectionInfo: apiserver.WebhookConnectionInfo{Type: apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile, KubeConfigFile: &m.WebhookFile},
			}
			a.Webhook.Timeout.Duration, a.Webhook.AuthorizedTTL.Duration, a.Webhook.UnauthorizedTTL.Duration = webhookTimeout, m.AllowedTTL, m.DeniedTTL
		}
		config.Authorizers = append(config.Authorizers, a)
	}
	c := newChain()
	c.policyFile = m.PolicyFile
	return c, c.use(config)
}
