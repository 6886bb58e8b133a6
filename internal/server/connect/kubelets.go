package connect

import (
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kubelet returns the base URL of a node's kubelet.
func (c *Request) kubelet(name string) (*url.URL, error) {
	obj, err := c.Objects.Get(c.Context, corev1.Resource("nodes"), "", name)
	if err != nil {
		return nil, err
	}
	address, ok := c.Network.Kubelet(obj.(*corev1.Node))
	if !ok {
		return nil, apierrors.NewInternalError(&noAddressError{name})
	}
	return &url.URL{Scheme: "https", Host: address}, nil
}

// noAddressError is the error for a node without any address of a preferred type.
type noAddressError struct{ node string }

func (e *noAddressError) Error() string {
	return "no preferred addresses found for node " + strconv.Quote(e.node)
}
