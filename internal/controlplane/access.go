package controlplane

import (
	"context"
	"crypto"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"fairlead.dev/internal/controllers/cabundle"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/externaljwt"
	"fairlead.dev/internal/server/auth/jwt"
	"fairlead.dev/internal/server/auth/token"
	"fairlead.dev/internal/server/auth/webhook"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/keyutil"
)

// Access replaces parts of the server's own authentication and authorization, as the flags of kube-apiserver do. The
// zero value is the access of a cluster made by kubeadm: the server's own authorities, the authorizers Node and RBAC.
type Access struct {
	// ClientCAFile has CAs of client certificates besides the server's own. It is read again when it changes.
	ClientCAFile string
	// TokenFile has the tokens of users; see token.FromFile.
	TokenFile string
	// FrontProxy has front proxies besides the server's own.
	FrontProxy FrontProxy
	// TokenWebhook configures the server that is asked about tokens which this server does not know; without a file,
	// such tokens are invalid.
	TokenWebhook webhook.TokenOptions
	// NoBootstrapTokens refuses the tokens by which nodes join.
	NoBootstrapTokens bool
	// AuthenticationConfigFile is an AuthenticationConfiguration; see package internal/server/auth/jwt. It is read again when it
	// changes. Issuer is an OpenID Connect issuer without such a file.
	AuthenticationConfigFile string
	Issuer                   jwt.Issuer
	// NoAnonymous answers requests without credentials by 401. FixedAnonymous refuses a file that configures them too.
	NoAnonymous, FixedAnonymous bool

	// AuthorizationConfigFile is an AuthorizationConfiguration; see package internal/server/auth/chain. It is read again when
	// it changes. Without a file, Authorization has the authorizers to ask; without types they are Node and RBAC.
	AuthorizationConfigFile string
	Authorization           chain.Modes

	// Issuers are the names of the service account issuer: the first is in new tokens, all are accepted. Nil is that
	// of a cluster made by kubeadm. Audiences are those of the API server; nil is the first issuer.
	Issuers, Audiences []string
	// SigningKeyFile has the private key of service account tokens; "" is the server's own key. KeyFiles have
	// further keys whose tokens are accepted.
	SigningKeyFile string
	KeyFiles       []string
	// SigningEndpoint is the socket of a program that signs service account tokens in place of a key, and has the keys that
	// verify them; see package internal/server/auth/externaljwt.
	SigningEndpoint string
	// MaxTokenExpiration bounds how long requested service account tokens are valid; 0 is no bound.
	MaxTokenExpiration time.Duration

	// ServiceCIDRs are the ranges of cluster IPs: one, or in a dual-stack cluster two of different families, the primary one
	// first. Nil is DefaultServiceCIDR.
	ServiceCIDRs []netip.Prefix
}

// DefaultServiceCIDR and DefaultIssuer are those of a cluster made by kubeadm.
var DefaultServiceCIDR = netip.MustParsePrefix("10.96.0.0/12")

const DefaultIssuer = "https://kubernetes.default.svc.cluster.local"

// setDefaults sets all that is not configured to the values of a cluster made by kubeadm.
func (a *Access) setDefaults() {
	if a.Authorization.Types == nil {
		a.Authorization.Types = []string{chain.Node, chain.RBAC}
	}
	if a.Issuers == nil {
		a.Issuers = []string{DefaultIssuer}
	}
	if a.Audiences == nil {
		a.Audiences = a.Issuers[:1]
	}
	if a.ServiceCIDRs == nil {
		a.ServiceCIDRs = []netip.Prefix{DefaultServiceCIDR}
	}
}

// families returns the IP families of Services, the default first.
func (a *Access) families() (all []corev1.IPFamily) {
	for _, p := range a.ServiceCIDRs {
		if p.Addr().Is6() {
			all = append(all, corev1.IPv6Protocol)
		} else {
			all = append(all, corev1.IPv4Protocol)
		}
	}
	return all
}

// credentials are the keys and certificates of a control plane, those of the files in Access or else its authority's,
// and the authenticators and authorizers that files configure.
type credentials struct {
	authority *pki.Authority
	// clientCAs are the authorities of client certificates, and frontProxyCAs those of further front proxies.
	clientCAs, frontProxyCAs authorities
	// serving are the server's certificates, except for one that the authority issues. servingCA has the certificates
	// that verify the one that is shown to clients which ask for no special name.
	serving   *servingCertificates
	servingCA cabundle.Bundle
	// signing is the key of service account tokens, nil for the authority's, and verifying are others whose tokens are
	// accepted.
	signing   crypto.Signer
	verifying []crypto.PublicKey
	// tokens verifies the tokens of the token file; nil without one.
	tokens token.Verifier
	// issued verifies the tokens of OpenID Connect issuers; nil without one.
	issued *jwt.Tokens
	// tokenWebhook is asked about other tokens; nil without one.
	tokenWebhook token.Verifier
	// authorizers are asked about requests.
	authorizers *chain.Chain
	// external signs tokens in place of signing; nil without one.
	external *externaljwt.Signer
	// reloads are the files that are read again.
	reloads *reloads
	// uses end the connections of issued and external.
	uses *uses
}

// loadCredentials reads the files. The credentials are complete once they have an authority.
func loadCredentials(ctx context.Context, a *Access, s *Serving, log *slog.Logger) (c credentials, err error) {
	c = credentials{clientCAs: newAuthorities(), frontProxyCAs: newAuthorities(), serving: &servingCertificates{}, reloads: newReloads(), uses: newUses()}
	if err := c.readAuthorities("client CA", c.clientCAs, a.ClientCAFile); err != nil {
		return c, err
	}
	if err := c.readAuthorities("front proxy CA", c.frontProxyCAs, a.FrontProxy.CAFile); err != nil {
		return c, err
	}
	if err := c.readServing(s); err != nil {
		return c, err
	}
	if err := a.loadTokenKeys(&c); err != nil {
		return c, fmt.Errorf("service account key: %w", err)
	}
	if a.TokenFile != "" {
		if c.tokens, err = token.FromFile(a.TokenFile); err != nil {
			return c, fmt.Errorf("token file: %w", err)
		}
	}
	if a.TokenWebhook.ConfigFile != "" {
		if c.tokenWebhook, err = webhook.NewTokens(a.TokenWebhook, a.Audiences); err != nil {
			return c, err
		}
	}
	if err := c.loadAuthorizers(a); err != nil {
		return c, err
	}
	if err := c.loadIssuers(a); err != nil {
		return c, err
	}
	return c, c.connectSigner(ctx, a, log)
}

func (c *credentials) readAuthorities(name string, into authorities, path string) error {
	if path == "" {
		return nil
	}
	return c.reloads.read(name, func() error {
		if err := into.load(path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}, path)
}

func (a *Access) loadTokenKeys(c *credentials) error {
	if a.SigningKeyFile != "" {
		key, err := keyutil.PrivateKeyFromFile(a.SigningKeyFile)
		if err != nil {
			return err
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return fmt.Errorf("%s has a %T, which cannot sign", a.SigningKeyFile, key)
		}
		c.signing = signer
	}
	for _, path := range a.KeyFiles {
		keys, err := keyutil.PublicKeysFromFile(path)
		if err != nil {
			return err
		}
		for _, key := range keys {
			c.verifying = append(c.verifying, key)
		}
	}
	return nil
}

// under returns the credentials of a control plane that has an authority of its own and accepts the credentials that these have issued.
func (c credentials) under(authority *pki.Authority) credentials {
	own := c
	own.verifying = append(slices.Clip(c.verifying), c.tokenKey().Public())
	own.serving, own.servingCA, own.signing = &servingCertificates{}, cabundle.Bundle{}, nil
	own.complete(authority)
	return own
}

// complete adds the server's own authority, which has the keys for which there are no files. It also stays an authority
// of client certificates: those of the kubeconfig and of the simulated nodes are its own.
func (c *credentials) complete(authority *pki.Authority) {
	c.authority = authority
	c.clientCAs = c.clientCAs.with(authority)
	if c.servingCA.PEM == nil {
		c.servingCA = cabundle.Bundle{PEM: authority.PEM, OnChange: authority.OnChange}
	}
}

// tokenKey is the key of service account tokens at present.
func (c credentials) tokenKey() crypto.Signer {
	if c.signing != nil {
		return c.signing
	}
	return c.authority.TokenKey()
}
