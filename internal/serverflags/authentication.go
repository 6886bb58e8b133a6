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

// authentication has the flags that have another form than their options.
type authentication struct {
	set                  *pflag.FlagSet
	anonymous, bootstrap bool
}

func (f *authentication) register(set *pflag.FlagSet, a *controlplane.Access) {
	f.set = set
	set.StringVar(&a.AuthenticationConfigFile, "authentication-config", "", "file with an AuthenticationConfiguration: OpenID Connect issuers whose tokens are accepted, and the paths of requests without credentials; read again when it changes")
	registerIssuer(set, &a.Issuer)
	set.BoolVar(&f.anonymous, "anonymous-auth", !a.NoAnonymous, "allow requests without credentials, of the user system:anonymous; never with the authorizer AlwaysAllow")
	set.StringVar(&a.ClientCAFile, "client-ca-file", "", "file with CAs of client certificates besides the server's own; the common name is the user, the organizations are the groups")
	set.StringVar(&a.TokenFile, "token-auth-file", "", "CSV file with tokens: token, user, UID, groups")
	set.BoolVar(&f.bootstrap, "enable-bootstrap-token-auth", !a.NoBootstrapTokens, "accept the tokens in Secrets of type bootstrap.kubernetes.io/token in kube-system")
	registerTokenWebhook(set, &a.TokenWebhook)
	registerFrontProxy(set, &a.FrontProxy)
	set.StringSliceVar(&a.Audiences, "api-audiences", nil, "audiences of service account tokens for this server (default the first --service-account-issuer)")
	set.StringArrayVar(&a.Issuers, "service-account-issuer", nil, "name of the service account issuer; the first is in new tokens, all are accepted (default that of kubeadm, "+controlplane.DefaultIssuer+")")
	set.StringVar(&a.SigningKeyFile, "service-account-signing-key-file", "", "file with the private key of service account tokens (default a key of the server's own)")
	set.StringVar(&a.SigningEndpoint, "service-account-signing-endpoint", "", "socket of a program that signs service account tokens and has their keys (k8s.io/externaljwt v1)")
	set.StringArrayVar(&a.KeyFiles, "service-account-key-file", nil, "file with keys that verify service account tokens")
	set.DurationVar(&a.MaxTokenExpiration, "service-account-max-token-expiration", 0, "longest validity of a requested token; 0 for no limit")
}

func (f *authentication) complete(a *controlplane.Access) error {
	// As in kube-apiserver, which does not combine anonymous requests with a server that allows everything.
	a.NoAnonymous = !f.anonymous || slices.Contains(a.Authorization.Types, chain.AlwaysAllow)
	a.FixedAnonymous = f.set.Changed("anonymous-auth")
	a.NoBootstrapTokens = !f.bootstrap
	if err := f.checkIssuer(a); err != nil {
		return err
	}
	for _, issuer := range a.Issuers {
		if issuer == "" {
			return errors.New("--service-account-issuer: want a name that is not empty")
		}
	}
	if a.SigningEndpoint != "" && (a.SigningKeyFile != "" || len(a.KeyFiles) > 0) {
		return errors.New("can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)")
	}
	if a.SigningKeyFile == "" && len(a.KeyFiles) > 0 {
		return errors.New("--service-account-key-file: want --service-account-signing-key-file too")
	}
	if t := a.MaxTokenExpiration; t != 0 && (t < time.Hour || t > 1<<32*time.Second) {
		return fmt.Errorf("--service-account-max-token-expiration=%v: want between 1 hour and 2^32 seconds", t)
	}
	if err := checkTokenWebhook(&a.TokenWebhook); err != nil {
		return err
	}
	return checkFrontProxy(&a.FrontProxy)
}
