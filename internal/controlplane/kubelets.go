package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/reach"
	corev1 "k8s.io/api/core/v1"
)

// Kubelets configures the server's connections to kubelets, as the flags of kube-apiserver do.
type Kubelets struct {
	// CertFile and KeyFile have the server's client certificate and its key, which are read again for each connection.
	// "" makes the server issue its own, of the user kubeletClient.
	CertFile, KeyFile string
	// CAFile has the authorities of kubelets' serving certificates; "" accepts any certificate.
	CAFile string
	// AddressTypes are the types of the node addresses to use, in order of preference; nil is InternalIP, ExternalIP,
	// InternalDNS, ExternalDNS, Hostname.
	AddressTypes []string
}

// kubeletClient is the user as which the server connects to kubelets, by kubeadm's name. A kubelet asks the server whether
// the user may do what it asks for.
const kubeletClient = "kube-apiserver-kubelet-client"

// options returns the server's options.
func (k Kubelets) options(o Options, creds credentials) (reach.KubeletOptions, error) {
	r := reach.KubeletOptions{Now: o.realTime(), Certificate: func() (*tls.Certificate, error) {
		return clientCertificate(creds.authority.Client(kubeletClient, auth.MastersGroup))
	}}
	if (k.CertFile == "") != (k.KeyFile == "") {
		return r, optionErrorf("--kubelet-client-certificate and --kubelet-client-key: want both or neither")
	}
	if k.CertFile != "" {
		r.Certificate = func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(k.CertFile, k.KeyFile)
			return &pair, err
		}
		if _, err := r.Certificate(); err != nil {
			return r, optionErrorf("--kubelet-client-certificate: %w", err)
		}
	}
	if k.CAFile != "" {
		text, err := os.ReadFile(k.CAFile)
		if err != nil {
			return r, optionErrorf("--kubelet-certificate-authority: %w", err)
		}
		r.Authorities = x509.NewCertPool()
		if !r.Authorities.AppendCertsFromPEM(text) {
			return r, optionErrorf("--kubelet-certificate-authority: no certificate in %s", k.CAFile)
		}
	}
	for _, name := range k.AddressTypes {
		t := corev1.NodeAddressType(name)
		if !slices.Contains(reach.DefaultAddressTypes, t) {
			return r, optionErrorf("--kubelet-preferred-address-types: %q is no type of a node address; all are %v", name, reach.DefaultAddressTypes)
		}
		r.AddressTypes = append(r.AddressTypes, t)
	}
	return r, nil
}

// clientCertificate returns the pair of a certificate and its key in PEM.
func clientCertificate(cert, key []byte, err error) (*tls.Certificate, error) {
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	return &pair, err
}
