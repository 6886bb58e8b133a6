package serverflags

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

var authorizers = []string{
	controlplane.AuthorizeAlwaysAllow, controlplane.AuthorizeAlwaysDeny, controlplane.AuthorizeNode,
	controlplane.AuthorizeRBAC, controlplane.AuthorizeWebhook,
}

func registerAuthorization(set *pflag.FlagSet, a *controlplane.Access) {
	if a.Authorization == nil {
		a.Authorization = []string{controlplane.AuthorizeNode, controlplane.AuthorizeRBAC}
	}
	w := &a.AuthorizationWebhook
	set.StringSliceVar(&a.Authorization, "authorization-mode", a.Authorization, "authorizers to ask, in this order: "+oneOf(authorizers))
	set.StringVar(&w.ConfigFile, "authorization-webhook-config-file", "", "kubeconfig of the authorization webhook")
	set.StringVar(&w.Version, "authorization-webhook-version", "v1beta1", "version of the webhook's SubjectAccessReviews")
	set.DurationVar(&w.AllowedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "how long to keep the webhook's permissions")
	set.DurationVar(&w.DeniedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "how long to keep the webhook's refusals")
}

func checkAuthorization(a *controlplane.Access) error {
	for i, mode := range a.Authorization {
		if !slices.Contains(authorizers, mode) {
			return fmt.Errorf("--authorization-mode=%s: want %s", mode, oneOf(authorizers))
		}
		if slices.Contains(a.Authorization[:i], mode) {
			return fmt.Errorf("--authorization-mode: %s is there twice", mode)
		}
	}
	if webhook := slices.Contains(a.Authorization, controlplane.AuthorizeWebhook); webhook != (a.AuthorizationWebhook.ConfigFile != "") {
		return errors.New("--authorization-mode=Webhook and --authorization-webhook-config-file: want both or neither")
	}
	return nil
}
