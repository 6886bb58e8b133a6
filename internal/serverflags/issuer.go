package serverflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/auth/jwt"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

const issuerPrefix = "oidc-"

func registerIssuer(set *pflag.FlagSet, i *jwt.Issuer) {
	i.UsernameClaim, i.SigningAlgorithms = "sub", []string{"RS256"}
	set.StringVar(&i.URL, "oidc-issuer-url", "", "URL of an OpenID Connect issuer whose tokens are accepted; https only")
	set.StringVar(&i.ClientID, "oidc-client-id", "", "audience of the issuer's tokens")
	set.StringVar(&i.CAFile, "oidc-ca-file", "", "file with CAs of the issuer's certificate (default the system's)")
	set.StringVar(&i.UsernameClaim, "oidc-username-claim", i.UsernameClaim, "claim with the user's name")
	set.StringVar(&i.UsernamePrefix, "oidc-username-prefix", "", "prefix of user names; - for none (default the issuer's URL and #, except for the claim email)")
	set.StringVar(&i.GroupsClaim, "oidc-groups-claim", "", "claim with the user's groups, a string or a list of strings")
	set.StringVar(&i.GroupsPrefix, "oidc-groups-prefix", "", "prefix of groups")
	set.StringSliceVar(&i.SigningAlgorithms, "oidc-signing-algs", i.SigningAlgorithms, "accepted algorithms of the issuer's signatures: "+strings.Join(jwt.SigningAlgorithms(), ", "))
	set.Var(cliflag.NewMapStringStringNoSplit(&i.RequiredClaims), "oidc-required-claim", "claim that the issuer's tokens must have, with its value, as NAME=VALUE; may be repeated")
}

// checkIssuer checks the flags of the issuer, which exclude those of a file.
func (f *authentication) checkIssuer(a *controlplane.Access) error {
	given := false
	f.set.Visit(func(one *pflag.Flag) { given = given || strings.HasPrefix(one.Name, issuerPrefix) })
	switch {
	case given && a.AuthenticationConfigFile != "":
		return errors.New("authentication-config file and oidc-* flags are mutually exclusive")
	case given && (a.Issuer.URL == "" || a.Issuer.ClientID == ""):
		return errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
	}
	for _, name := range a.Issuer.SigningAlgorithms {
		if !slices.Contains(jwt.SigningAlgorithms(), name) {
			return fmt.Errorf("oidc: unsupported signing alg: %q", name)
		}
	}
	return nil
}
