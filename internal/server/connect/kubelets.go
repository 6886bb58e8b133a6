package connect

import (
	"net"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kubeletPort is the port of kubelets whose nodes do not name one.
const kubeletPort = 10250

// addressTypes are the addresses of a node by which its kubelet is reached, in order of
// preference: an IP address needs no name resolution.
var addressTypes = []corev1.NodeAddressType{
	corev1.NodeInternalIP, corev1.NodeExternalIP, corev1.NodeInternalDNS, corev1.NodeExternalDNS, corev1.NodeHostName,
}

// kubelet returns the base URL of a node's kubelet.
func (c *Request) kubelet(name string) (*url.URL, error) {
	obj, err := c.Objects.Get(c.Context, corev1.Resource("nodes"), "", name)
	if err != nil {
		return nil, err
	}
	node := obj.(*corev1.Node)
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port == 0 {
		port = kubeletPort
	}
	for _, t := range addressTypes {
		i := slices.IndexFunc(node.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Type == t })
		if i >= 0 {
			return &url.URL{Scheme: "https", Host: net.JoinHostPort(node.Status.Addresses[i].Address, strconv.Itoa(int(port)))}, nil
		}
	}
	return nil, apierrors.NewInternalError(&noAddressError{name})
}

// noAddressError is the error for a node without any address.
type noAddressError struct{ node string }

func (e *noAddressError) Error() string {
	return "no preferred addresses found for node " + strconv.Quote(e.node)
}
