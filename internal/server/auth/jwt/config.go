package jwt

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"fairlead.dev/internal/apiserverconfig"
)

// load returns the AuthenticationConfiguration of apiserver.config.k8s.io in a file, and its text.
func load(path string) (*apiserver.AuthenticationConfiguration, string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if len(text) == 0 {
		return nil, "", errors.New("empty config data")
	}
	decoded, err := apiserverconfig.Decode(text)
	if err != nil {
		return nil, "", err
	}
	config, ok := decoded.(*apiserver.AuthenticationConfiguration)
	if !ok {
		return nil, "", fmt.Errorf("expected AuthenticationConfiguration, got %T", decoded)
	}
	return config, string(text), nil
}

// check validates the configuration. Service account issuers cannot be issuers of other tokens.
func check(config *apiserver.AuthenticationConfiguration, serviceAccountIssuers []string) error {
	if err := validation.ValidateAuthenticationConfiguration(cel.NewDefaultCompiler(), config, serviceAccountIssuers).ToAggregate(); err != nil {
		return fmt.Errorf("invalid authentication configuration: %w", err)
	}
	return nil
}

// SigningAlgorithms returns the algorithms that Issuer.SigningAlgorithms may have.
func SigningAlgorithms() []string { return oidc.AllValidSigningAlgorithms() }

// Issuer configures one OpenID Connect issuer, as the --oidc flags of kube-apiserver do.
type Issuer struct {
	// URL is that of the issuer, and ClientID the audience of its tokens.
	URL, ClientID string
	// CAFile has the CAs of the issuer's certificate; "" for those of the system.
	CAFile string
	// UsernameClaim names the claim with the user's name. UsernamePrefix comes before it: "-" is no prefix, and "" is the
	// URL and "#" unless the claim is email.
	UsernameClaim, UsernamePrefix string
	// GroupsClaim names the claim with the user's groups; "" without one. GroupsPrefix comes before each.
	GroupsClaim, GroupsPrefix string
	// SigningAlgorithms are the accepted algorithms, of RFC 7518, section 3.1.
	SigningAlgorithms []string
	// RequiredClaims are claims that a token must have, with their values.
	RequiredClaims map[string]string
}

// configuration returns the configuration of the issuer.
func (i Issuer) configuration() (*apiserver.AuthenticationConfiguration, error) {
	prefix := i.UsernamePrefix
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && i.UsernameClaim != "email":
		prefix = i.URL + "#"
	}
	one := apiserver.JWTAuthenticator{
		Issuer:        apiserver.Issuer{URL: i.URL, Audiences: []string{i.ClientID}},
		ClaimMappings: apiserver.ClaimMappings{Username: apiserver.PrefixedClaimOrExpression{Claim: i.UsernameClaim, Prefix: &prefix}},
	}
	if i.GroupsClaim != "" {
		one.ClaimMappings.Groups = apiserver.PrefixedClaimOrExpression{Claim: i.GroupsClaim, Prefix: &i.GroupsPrefix}
	}
	for claim, value := range i.RequiredClaims {
		one.ClaimValidationRules = append(one.ClaimValidationRules, apiserver.ClaimValidationRule{Claim: claim, RequiredValue: value})
	}
	if i.CAFile != "" {
		ca, err := os.ReadFile(i.CAFile)
		if err != nil {
			return nil, err
		}
		one.Issuer.CertificateAuthority = string(ca)
	}
	return &apiserver.AuthenticationConfiguration{JWT: []apiserver.JWTAuthenticator{one}}, nil
}
