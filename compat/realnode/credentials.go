//go:build linux

package realnode

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// credentials writes the kubeconfigs of a node's kubelet and kube-proxy, with certificates that
// the server's authority signs.
func (c *Cluster) credentials(n *Machine) error {
	pki := filepath.Join(c.Server.Root(), dataInside, "pki")
	ca, err := os.ReadFile(filepath.Join(pki, "ca.crt"))
	if err != nil {
		return err
	}
	authority, err := cert.ParseCertsPEM(ca)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(pki, "ca.key"))
	if err != nil {
		return err
	}
	key, err := keyutil.ParsePrivateKeyPEM(text)
	if err != nil {
		return err
	}
	if err := n.write("/etc/kubernetes/ca.crt", ca); err != nil {
		return err
	}
	for file, subject := range map[string]pkix.Name{
		"kubelet.conf": {CommonName: "system:node:" + n.Name, Organization: []string{"system:nodes"}},
		"proxy.conf":   {CommonName: "system:kube-proxy"},
	} {
		config := api.NewConfig()
		config.Clusters["c"] = &api.Cluster{Server: "https://" + serverAddress, CertificateAuthorityData: ca}
		if config.AuthInfos["u"], err = sign(authority[0], key.(crypto.Signer), subject); err != nil {
			return err
		}
		config.Contexts["c"] = &api.Context{Cluster: "c", AuthInfo: "u"}
		config.CurrentContext = "c"
		text, err := clientcmd.Write(*config)
		if err != nil {
			return err
		}
		if err := n.write("/etc/kubernetes/"+file, text); err != nil {
			return err
		}
	}
	return nil
}

// sign issues a client certificate.
func sign(authority *x509.Certificate, signer crypto.Signer, subject pkix.Name) (*api.AuthInfo, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	signed, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		Subject: subject, SerialNumber: serial,
		NotBefore: authority.NotBefore, NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, authority, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	public, err := cert.EncodeCertificates(&x509.Certificate{Raw: signed})
	return &api.AuthInfo{ClientCertificateData: public, ClientKeyData: private}, err
}
