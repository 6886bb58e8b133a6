package serverflags

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/auth/chain"
	"github.com/spf13/pflag"
)

var authorizers = []string{chain.ABAC, chain.AlwaysAllow, chain.AlwaysDeny, chain.Node, chain.RBAC, chain.Webhook}

// authorization checks the flags of authorization.
type authorization struct{ set *pflag.FlagSet }

func (f *authorization) register(set *pflag.FlagSet, a *controlplane.Access) {
	f.set = set
	set.StringVar(&a.AuthorizationConfigFile, "authorization-config", "", "file with an AuthorizationConfiguration, in place of --authorization-mode and --authorization-webhook-*; read again when it changes")
	m := &a.Authorization
	if m.Types == nil {
		m.Types = []string{chain.Node, chain.RBAC}
	}
	set.StringSliceVar(&m.Types, "authorization-mode", m.Types, "authorizers to ask, in this order: "+oneOf(authorizers))
	set.StringVar(&m.PolicyFile, "authorization-policy-file", "", "file of the policies of the authorizer ABAC: each line is a Policy of abac.authorization.kubernetes.io/v1beta1 in JSON")
	set.StringVar(&m.WebhookFile, "authorization-webhook-config-file", "", "kubeconfig of the authorization webhook")
	set.StringVar(&m.WebhookVersion, "authorization-webhook-version", "v1beta1", "version of the webhook's SubjectAccessReviews")
	set.DurationVar(&m.AllowedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "how long to keep the webhook's permissions")
	set.DurationVar(&m.DeniedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "how long to keep the webhook's refusals")
}

// fileExcludes are the flags that cannot be set with --authorization-config.
var fileExcludes = []string{
	"authorization-mode", "authorization-webhook-config-file", "authorization-webhook-version",
	"authorization-webhook-cache-authorized-ttl", "authorization-webhook-cache-unauthorized-ttl",
}

func (f *authorization) complete(a *controlplane.Access) error {
	m := &a.Authorization
	if a.AuthorizationConfigFile != "" {
		m.Types = nil
		if slices.ContainsFunc(fileExcludes, f.set.Changed) {
			return errors.New("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")
		}
		return nil
	}
	for i, mode := range m.Types {
		if !slices.Contains(authorizers, mode) {
			return fmt.Errorf("--authorization-mode=%s: want %s", mode, oneOf(authorizers))
		}
		if slices.Contains(m.Types[:i], mode) {
			return fmt.Errorf("--authorization-mode: %s is there twice", mode)
		}
	}
	if policies := slices.Contains(m.Types, chain.ABAC); policies != (m.PolicyFile != "") {
		return errors.New("--authorization-mode=ABAC and --authorization-policy-file: want both or neither")
	}
	if webhook := slices.Contains(m.Types, chain.Webhook); webhook != (m.WebhookFile != "") {
		return errors.New("--authorization-mode=Webhook and --authorization-webhook-config-file: want both or neither")
	}
	return nil
}
