package serverflags

import (
	"fmt"
	"net/url"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// accountTokens has the flag that has another form than its option.
type accountTokens struct{ extend, collect bool }

func (f *accountTokens) register(set *pflag.FlagSet, o *controlplane.Options) {
	set.StringVar(&o.Tokens.KeysURI, "service-account-jwks-uri", "", "https URL of the keys of service account tokens, for the OpenID configuration (default that of this server)")
	set.BoolVar(&f.extend, "service-account-extend-token-expiration", true, "make the tokens of pods valid for a year, for clients that do not read their file again")
	set.BoolVar(&f.collect, "enable-garbage-collector", true, "collect the dependents of deleted objects; without it deletes ignore what they ask for dependents")
}

func (f *accountTokens) complete(o *controlplane.Options) error {
	o.Tokens.NoExtension, o.NoGarbageCollection = !f.extend, !f.collect
	if o.Tokens.KeysURI == "" {
		return nil
	}
	switch u, err := url.Parse(o.Tokens.KeysURI); {
	case err != nil:
		return fmt.Errorf("service-account-jwks-uri must be a valid URL: %w", err)
	case u.Scheme != "https":
		return fmt.Errorf("service-account-jwks-uri requires https scheme, parsed as: %v", u)
	}
	return nil
}
