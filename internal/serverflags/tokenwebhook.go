package serverflags

import (
	"fmt"
	"slices"
	"time"

	"fairlead.dev/internal/server/auth/webhook"
	"github.com/spf13/pflag"
)

var tokenReviews = []string{"v1beta1", "v1"}

func registerTokenWebhook(set *pflag.FlagSet, w *webhook.TokenOptions) {
	set.StringVar(&w.ConfigFile, "authentication-token-webhook-config-file", "", "kubeconfig of the webhook that is asked about tokens which the server does not know")
	set.StringVar(&w.Version, "authentication-token-webhook-version", tokenReviews[0], "version of the webhook's TokenReviews: "+oneOf(tokenReviews))
	set.DurationVar(&w.TTL, "authentication-token-webhook-cache-ttl", 2*time.Minute, "how long to keep the token webhook's answers")
}

// checkTokenWebhook returns an error for a version that would be used: as in kube-apiserver, others are not looked at.
func checkTokenWebhook(w *webhook.TokenOptions) error {
	if w.ConfigFile != "" && !slices.Contains(tokenReviews, w.Version) {
		return fmt.Errorf("--authentication-token-webhook-version=%s: want %s", w.Version, oneOf(tokenReviews))
	}
	return nil
}
