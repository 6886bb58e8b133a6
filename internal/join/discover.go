package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/cluster-bootstrap/token/jws"
	bootstraptokens "k8s.io/cluster-bootstrap/util/tokens"

	"fairlead.dev/client"
)

// Invitation lets a node trust a server, and the server the node: `fairlead token create --print-join-command` prints it.
type Invitation struct {
	// Server is the URL of the API server.
	Server string
	// Token is a bootstrap token.
	Token string
	// CAHashes are hashes of public keys, one of which the server's authority must have; see the function CAHashes. AnyCA
	// trusts the token alone: all who know it can pose as the server.
	CAHashes []string
	AnyCA    bool
}

// Check returns an error for an incomplete invitation.
func (i Invitation) Check() error {
	u, err := url.Parse(i.Server)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not the URL of an API server: want https://HOST:PORT", i.Server)
	}
	if _, _, err := bootstraptokens.ParseToken(i.Token); err != nil {
		return errors.New("--token: want 6 characters, a dot and 16 characters, all of a-z and 0-9")
	}
	if len(i.CAHashes) == 0 && !i.AnyCA {
		return errors.New("--discovery-token-ca-cert-hash: want the hash of the server's CA, or --discovery-token-unsafe-skip-ca-verification to trust any server that knows the token")
	}
	for _, h := range i.CAHashes {
		if digits, ok := strings.CutPrefix(h, "sha256:"); !ok || len(digits) != 64 || strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
			return fmt.Errorf("--discovery-token-ca-cert-hash=%s: want sha256: and 64 hexadecimal digits", h)
		}
	}
	return nil
}

// Discover returns the cluster of an invitation, as kubeadm does: it reads the ConfigMap cluster-info from a server that it
// does not trust yet, verifies its signature by the token and the authority in it by the hashes, and reads it again from a
// server with a certificate of that authority.
func Discover(ctx context.Context, i Invitation) (Cluster, error) {
	if err := i.Check(); err != nil {
		return Cluster{}, err
	}
	first, err := i.read(ctx, rest.TLSClientConfig{Insecure: true})
	if err != nil {
		return Cluster{}, err
	}
	if err := i.verify(first); err != nil {
		return Cluster{}, err
	}
	again, err := i.read(ctx, rest.TLSClientConfig{CAData: first.CA})
	if err != nil {
		return Cluster{}, fmt.Errorf("with the CA of cluster-info: %w", err)
	}
	if again.kubeconfig != first.kubeconfig {
		return Cluster{}, errors.New("cluster-info is another one when it is read with the CA that it names: an other server answers in between")
	}
	return Cluster{Server: i.Server, CA: first.CA}, nil
}

// info is the ConfigMap cluster-info.
type info struct {
	kubeconfig string
	signatures map[string]string
	CA         []byte
}

// read reads cluster-info without credentials.
func (i Invitation) read(ctx context.Context, tls rest.TLSClientConfig) (in info, err error) {
	c, err := client.New(&rest.Config{Host: i.Server, TLSClientConfig: tls}, client.Options{UserAgent: userAgent})
	if err != nil {
		return in, err
	}
	var m corev1.ConfigMap
	res, err := c.REST().Do(ctx, client.Request{Path: "/api/v1/namespaces/" + metav1.NamespacePublic + "/configmaps/" + bootstrapapi.ConfigMapClusterInfo}) // without discovery, which needs a user
	if err == nil {
		err = json.Unmarshal(res.Body, &m)
	}
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err) {
		return in, fmt.Errorf("%s does not publish cluster-info for nodes: create a token there by `fairlead token create`: %w", i.Server, err)
	}
	if err != nil {
		return in, err
	}
	in.kubeconfig, in.signatures = m.Data[bootstrapapi.KubeConfigKey], m.Data
	config, err := clientcmd.Load([]byte(in.kubeconfig))
	if err != nil {
		return in, fmt.Errorf("cluster-info: %w", err)
	}
	for _, c := range config.Clusters {
		in.CA = c.CertificateAuthorityData
	}
	if len(in.CA) == 0 {
		return in, errors.New("cluster-info names no certificate authority")
	}
	return in, nil
}

// verify returns an error unless cluster-info is signed by the token, and its authority has one of the hashes.
func (i Invitation) verify(in info) error {
	id, secret, err := bootstraptokens.ParseToken(i.Token)
	if err != nil {
		return err
	}
	signature := in.signatures[bootstrapapi.JWSSignatureKeyPrefix+id]
	if signature == "" {
		return fmt.Errorf("the token %s is unknown to %s, or has expired: see `fairlead token list` there", id, i.Server)
	}
	if !jws.DetachedTokenIsValid(signature, in.kubeconfig, id, secret) {
		return fmt.Errorf("cluster-info of %s is not signed by the token %s.…: its second part is wrong, or it is another server", i.Server, id)
	}
	if i.AnyCA {
		return nil
	}
	have, err := CAHashes(in.CA)
	if err != nil {
		return fmt.Errorf("cluster-info: %w", err)
	}
	for _, h := range i.CAHashes {
		if slices.Contains(have, strings.ToLower(h)) {
			return nil
		}
	}
	return fmt.Errorf("the CA of %s has the hash %s, not %s: it is another server, or its CA was made anew", i.Server, strings.Join(have, ", "), strings.Join(i.CAHashes, ", "))
}

// userAgent is that of the requests of a joining node.
const userAgent = "fairlead-join"

// ClusterOfMachine returns the cluster at a URL that this machine has joined before.
func ClusterOfMachine(server string) (Cluster, error) {
	ca, err := os.ReadFile(caFile)
	return Cluster{Server: server, CA: ca}, err
}

// Client returns a client of the cluster with a bootstrap token, or, if that is "", with the certificate of this machine's
// kubelet.
func (c Cluster) Client(token string) (*client.Client, error) {
	config := &rest.Config{Host: c.Server, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: c.CA}}
	if token == "" {
		config.CertFile, config.KeyFile = certificateFile, certificateFile
	}
	return client.New(config, client.Options{UserAgent: userAgent})
}
