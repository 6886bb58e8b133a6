package controlplane

import (
	"crypto/tls"
	"fmt"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/internal/server/auth"
)

// kubeconfigPurpose is that of the kubeconfig's certificate.
const kubeconfigPurpose = "the user of the kubeconfig"

// Certificates describes the certificates and keys.
func (cp *ControlPlane) Certificates() ([]pki.Item, error) {
	creds, now := cp.credentials, cp.options.realTime()()
	items := creds.authority.Items()
	if file := cp.options.Access.SigningKeyFile; file != "" {
		items = append(items, pki.Item{Name: "service-account-key", Purpose: "signs service account tokens", State: pki.External, File: file})
	}
	hosts, err := cp.hosts()
	if err != nil {
		return nil, err
	}
	external := cp.options.external()
	for _, one := range []struct {
		name, purpose string
		get           func() (*tls.Certificate, error)
	}{
		{pki.ServingLeaf, "the API server for its clients", func() (*tls.Certificate, error) {
			if external[pki.ServingLeaf] != "" {
				return creds.serving.read.Load().standard, nil
			}
			return creds.authority.Serving(hosts...)
		}},
		{pki.KubeletLeaf, "the API server at kubelets", func() (*tls.Certificate, error) {
			if file := external[pki.KubeletLeaf]; file != "" {
				return CertificateFiles{file, cp.options.Kubelets.KeyFile}.load()
			}
			return clientCertificate(creds.authority.Client(kubeletClient, auth.MastersGroup))
		}},
		{pki.FrontProxyLeaf, "the API server at other API servers", creds.frontProxy},
		{pki.KubeconfigLeaf, kubeconfigPurpose, func() (*tls.Certificate, error) {
			entry := cp.Entry()
			return clientCertificate(entry.Cert, entry.Key, nil)
		}},
	} {
		c, err := one.get()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		item := pki.Item{Name: one.name, Purpose: one.purpose, State: pki.Active}
		if file := external[one.name]; file != "" {
			item.State, item.File = pki.External, file
		} else if one.name == pki.KubeconfigLeaf {
			item.File = cp.KubeconfigPath()
		}
		items = append(items, pki.Describe(c.Leaf, now, item))
	}
	return items, nil
}
