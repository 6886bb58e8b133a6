package reach

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// KubeletOptions configure the connections to kubelets that are not simulated in this process.
type KubeletOptions struct {
	// Certificate returns the server's client certificate; it is called for each connection. Nil sends none, which only a
	// kubelet that allows anonymous requests accepts.
	Certificate func() (*tls.Certificate, error)
	// Authorities verify the kubelets' serving certificates. Nil accepts any certificate, as kube-apiserver does without
	// --kubelet-certificate-authority.
	Authorities *x509.CertPool
	// AddressTypes are the types of the node addresses to use, in order of preference; nil is DefaultAddressTypes.
	AddressTypes []corev1.NodeAddressType
	// Now is the clock that certificates are verified by; nil is time.Now.
	Now func() time.Time
}

// DefaultAddressTypes prefer an IP address, which needs no name resolution.
var DefaultAddressTypes = []corev1.NodeAddressType{
	corev1.NodeInternalIP, corev1.NodeExternalIP, corev1.NodeInternalDNS, corev1.NodeExternalDNS, corev1.NodeHostName,
}

// kubeletPort is the port of kubelets whose nodes do not name one.
const kubeletPort = 10250

// SetKubelets sets the options of the connections to kubelets. It is called before the first use.
func (n *Network) SetKubelets(o KubeletOptions) {
	config := &tls.Config{InsecureSkipVerify: o.Authorities == nil, RootCAs: o.Authorities, Time: o.Now}
	if o.Certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return o.Certificate() }
	}
	n.kubelets = &http.Transport{DialContext: n.dial, TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second}
	n.addressTypes = o.AddressTypes
	if n.addressTypes == nil {
		n.addressTypes = DefaultAddressTypes
	}
}

// Kubelet returns the address (host and port) of a node's kubelet; false if the node has no address of the preferred types.
func (n *Network) Kubelet(node *corev1.Node) (address string, ok bool) {
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port == 0 {
		port = kubeletPort
	}
	for _, t := range n.addressTypes {
		i := slices.IndexFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == t })
		if i >= 0 {
			return net.JoinHostPort(node.Status.Addresses[i].Address, strconv.Itoa(int(port))), true
		}
	}
	return "", false
}

// KubeletTransport carries requests to the kubelet at an address of Kubelet: those of nodes that are simulated in this
// process have certificates that no authority has signed, and ask for none.
func (n *Network) KubeletTransport(address string) *http.Transport {
	if n.isLocal(address) {
		return n.simulated
	}
	return n.kubelets
}
