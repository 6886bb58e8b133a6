package controlplane

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth/webhook"
	"k8s.io/client-go/util/keyutil"
)

// The names of authorizers in Access.Authorization, those of kube-apiserver's --authorization-mode.
const (
	AuthorizeAlwaysAllow = "AlwaysAllow"
	AuthorizeAlwaysDeny  = "AlwaysDeny"
	AuthorizeNode        = "Node"
	AuthorizeRBAC        = "RBAC"
	AuthorizeWebhook     = "Webhook"
)

// Access replaces parts of the server's own authentication, authorization and admission, as the flags of
// kube-apiserver do. The zero value is the access of a cluster made by kubeadm: the server's own authorities, the
// authorizers Node and RBAC, all default admission plugins and NodeRestriction.
type Access struct {
	// ServingCertFile and ServingKeyFile have the server's certificate and its key; "" makes the server issue its
	// own.
	ServingCertFile, ServingKeyFile string
	// ClientCAFile has CAs of client certificates besides the server's own.
	ClientCAFile string
	// TokenFile has the tokens of users; see token.FromFile.
	TokenFile string
	// NoAnonymous answers requests without credentials by 401.
	NoAnonymous bool

	// Authorization has the names of the authorizers to ask, in order; nil is Node and RBAC. AuthorizationWebhook
	// configures Webhook.
	Authorization        []string
	AuthorizationWebhook webhook.Options

	// DisabledPlugins are the names of default admission plugins that are not asked.
	DisabledPlugins []string
	// NoPrivileged makes privileged containers invalid.
	NoPrivileged bool

	// Issuers are the names of the service account issuer: the first is in new tokens, all are accepted. Nil is that
	// of a cluster made by kubeadm. Audiences are those of the API server; nil is the first issuer.
	Issuers, Audiences []string
	// SigningKeyFile has the private key of service account tokens; "" is the server's own key. KeyFiles have
	// further keys whose tokens are accepted.
	SigningKeyFile string
	KeyFiles       []string
	// MaxTokenExpiration bounds how long requested service account tokens are valid; 0 is no bound.
	MaxTokenExpiration time.Duration

	// ServiceCIDR is the range of cluster IPs; the zero value is kubeadm's 10.96.0.0/12.
	ServiceCIDR netip.Prefix
}

// kubeadmServiceCIDR and kubeadmIssuer are the defaults of kubeadm.
var kubeadmServiceCIDR = netip.MustParsePrefix("10.96.0.0/12")

const kubeadmIssuer = "https://kubernetes.default.svc.cluster.local"

// setDefaults sets what is not configured to the values of a cluster made by kubeadm.
func (a *Access) setDefaults() {
	if a.Authorization == nil {
		a.Authorization = []string{AuthorizeNode, AuthorizeRBAC}
	}
	if a.Issuers == nil {
		a.Issuers = []string{kubeadmIssuer}
	}
	if a.Audiences == nil {
		a.Audiences = a.Issuers[:1]
	}
	if !a.ServiceCIDR.IsValid() {
		a.ServiceCIDR = kubeadmServiceCIDR
	}
}

// authorizes reports whether the authorizer is asked.
func (a *Access) authorizes(name string) bool { return slices.Contains(a.Authorization, name) }

// credentials are the keys and certificates of a control plane: its own authority's, or those of the files in Access.
type credentials struct {
	authority *pki.Authority
	// clientCAs are the authorities of client certificates, in both forms.
	clientCAs   *x509.CertPool
	clientCAPEM []byte
	// serving is the server's certificate, nil if the authority issues it. servingCA verifies it, in PEM.
	serving   *tls.Certificate
	servingCA []byte
	// signing is the key of service account tokens, and verifying are others whose tokens are accepted.
	signing   crypto.Signer
	verifying []crypto.PublicKey
}

// loadCredentials reads the files of the configuration.
func loadCredentials(a Access, authority *pki.Authority) (c credentials, err error) {
	c = credentials{
		authority: authority,
		clientCAs: authority.Pool(), clientCAPEM: authority.CertificatePEM(),
		servingCA: authority.CertificatePEM(),
		signing:   authority.TokenKey(),
	}
	if a.ClientCAFile != "" {
		if err := c.addClientCAs(a.ClientCAFile); err != nil {
			return c, fmt.Errorf("client CA: %w", err)
		}
	}
	if a.ServingCertFile != "" {
		serving, err := tls.LoadX509KeyPair(a.ServingCertFile, a.ServingKeyFile)
		if err != nil {
			return c, fmt.Errorf("serving certificate: %w", err)
		}
		// The last certificate of the file is the closest to its authority that is known here; clients that have it
		// as a root accept the chain.
		last := serving.Certificate[len(serving.Certificate)-1]
		c.serving, c.servingCA = &serving, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last})
	}
	if a.SigningKeyFile != "" {
		key, err := keyutil.PrivateKeyFromFile(a.SigningKeyFile)
		if err != nil {
			return c, fmt.Errorf("service account key: %w", err)
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return c, fmt.Errorf("service account key: %s has a %T, which cannot sign", a.SigningKeyFile, key)
		}
		c.signing = signer
	}
	for _, path := range a.KeyFiles {
		keys, err := keyutil.PublicKeysFromFile(path)
		if err != nil {
			return c, fmt.Errorf("service account key: %w", err)
		}
		for _, key := range keys {
			c.verifying = append(c.verifying, key)
		}
	}
	return c, nil
}

// addClientCAs adds the authorities of a file. The server's own authority stays: its certificates are those of the
// kubeconfig and of the nodes that it simulates.
func (c *credentials) addClientCAs(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c.clientCAs = c.clientCAs.Clone()
	if !c.clientCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("no certificate in %s", path)
	}
	c.clientCAPEM = slices.Concat(text, []byte("\n"), c.clientCAPEM)
	return nil
}
