package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
)

func parse(csr *certificatesv1.CertificateSigningRequest) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(csr.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, fmt.Errorf("unable to parse csr %q: PEM block type must be CERTIFICATE REQUEST", csr.Name)
	}
	req, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	return req, nil
}

// signers are Kubernetes' signers with automatic signing, and their rules for requests.
var signers = map[string]func(*x509.CertificateRequest, []certificatesv1.KeyUsage) error{
	certificatesv1.KubeAPIServerClientSignerName:        func(_ *x509.CertificateRequest, u []certificatesv1.KeyUsage) error { return clientUsages(u) },
	certificatesv1.KubeAPIServerClientKubeletSignerName: kubeletClient,
	certificatesv1.KubeletServingSignerName:             kubeletServing,
	"kubernetes.io/legacy-unknown":                      func(*x509.CertificateRequest, []certificatesv1.KeyUsage) error { return nil },
}

func clientUsages(usages []certificatesv1.KeyUsage) error {
	for _, u := range usages {
		switch u {
		case certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment:
		default:
			return fmt.Errorf("invalid usage for client certificate: %s", u)
		}
	}
	if !slices.Contains(usages, certificatesv1.UsageClientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}

// kubeletClient checks a request for a kubelet's client certificate.
func kubeletClient(req *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	switch {
	case !ofNodes(req):
		return errOrganization
	case len(req.DNSNames) > 0:
		return errors.New("DNS subjectAltNames are not allowed")
	case len(req.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed")
	case len(req.IPAddresses) > 0:
		return errors.New("IP subjectAltNames are not allowed")
	case len(req.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	case !named(req):
		return errName
	}
	return kubeletUsages(usages, certificatesv1.UsageClientAuth)
}

// kubeletServing checks a request for a kubelet's serving certificate.
func kubeletServing(req *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	switch {
	case !ofNodes(req):
		return errOrganization
	case len(req.DNSNames) == 0 && len(req.IPAddresses) == 0:
		return errors.New("DNS or IP subjectAltName is required")
	case len(req.EmailAddresses) > 0:
		return errors.New("Email subjectAltNames are not allowed")
	case len(req.URIs) > 0:
		return errors.New("URI subjectAltNames are not allowed")
	}
	if err := kubeletUsages(usages, certificatesv1.UsageServerAuth); err != nil {
		return err
	}
	if !named(req) {
		return errName
	}
	return nil
}

var (
	errOrganization = errors.New("subject organization is not system:nodes")
	errName         = errors.New("subject common name does not begin with system:node:")
)

func ofNodes(req *x509.CertificateRequest) bool {
	return slices.Equal(req.Subject.Organization, []string{"system:nodes"})
}

func named(req *x509.CertificateRequest) bool {
	return strings.HasPrefix(req.Subject.CommonName, nodeUser)
}

// nodeUser precedes the name of a node in the name of its kubelet's user.
const nodeUser = "system:node:"

// kubeletUsages requires digital signature and side, and for RSA keys optionally key encipherment.
func kubeletUsages(usages []certificatesv1.KeyUsage, side certificatesv1.KeyUsage) error {
	all := []certificatesv1.KeyUsage{side, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment}
	slices.Sort(all)
	has := slices.Clone(usages)
	slices.Sort(has)
	has = slices.Compact(has)
	needed := slices.DeleteFunc(slices.Clone(all), func(u certificatesv1.KeyUsage) bool { return u == certificatesv1.UsageKeyEncipherment })
	if !slices.Equal(has, all) && !slices.Equal(has, needed) {
		return fmt.Errorf("usages did not match %v", all)
	}
	return nil
}
