package connect

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// proxied answers with the response of a path at another address.
func (c *Request) proxied(to *url.URL, path string, transport http.RoundTripper) error {
	to.Path = utilnet.JoinPreservingTrailingSlash(to.Path, path)
	return c.passOn(to, transport, true, false)
}

// target splits the name in the path, which may have a scheme before it and a port behind it.
func (c *Request) target(kind string) (scheme, name, port string, err error) {
	scheme, name, port, ok := utilnet.SplitSchemeNamePort(c.Info.Name)
	if !ok {
		err = apierrors.NewBadRequest(fmt.Sprintf("invalid %s request %q", kind, c.Info.Name))
	}
	return scheme, name, port, err
}

// podProxy passes on to a port of a pod, by default its first one.
func podProxy(c *Request) error {
	o, err := admitConnect(c, &corev1.PodProxyOptions{Path: c.proxyPath()})
	if err != nil {
		return err
	}
	scheme, name, port, err := c.target("pod")
	if err != nil {
		return err
	}
	pod, err := c.pod(name)
	if err != nil {
		return err
	}
	for i := 0; port == "" && i < len(pod.Spec.Containers); i++ {
		if ports := pod.Spec.Containers[i].Ports; len(ports) > 0 {
			port = strconv.Itoa(int(ports[0].ContainerPort))
		}
	}
	ip, err := netip.ParseAddr(pod.Status.PodIP)
	if err != nil || !ip.IsGlobalUnicast() {
		return apierrors.NewBadRequest("address not allowed")
	}
	if err := c.Network.Pod(c.Context, pod); err != nil {
		return err
	}
	host := ip.String()
	if port != "" {
		host = net.JoinHostPort(host, port)
	} else if ip.Is6() {
		host = "[" + host + "]"
	}
	return c.proxied(&url.URL{Scheme: scheme, Host: host}, o.Path, c.Network.Pods)
}

// serviceProxy passes on to one of the pods behind a service.
func serviceProxy(c *Request) error {
	o, err := admitConnect(c, &corev1.ServiceProxyOptions{Path: c.proxyPath()})
	if err != nil {
		return err
	}
	scheme, name, port, err := c.target("service")
	if err != nil {
		return err
	}
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		obj, err := c.Objects.Get(c.Context, corev1.Resource("services"), c.Info.Namespace, name)
		if err != nil {
			return err
		}
		found := false
		for _, p := range obj.(*corev1.Service).Spec.Ports {
			if int64(p.Port) == number {
				port, found = p.Name, true
				break
			}
		}
		if !found {
			return apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, name))
		}
	}
	obj, err := c.Objects.Get(c.Context, corev1.Resource("endpoints"), c.Info.Namespace, name)
	if apierrors.IsNotFound(err) {
		return apierrors.NewNotFound(corev1.Resource("services"), name) // the client has asked for a service
	}
	if err != nil {
		return err
	}
	//lint:ignore SA1019 a Service without slices is proxied by these, as upstream does
	subsets := obj.(*corev1.Endpoints).Subsets
	if len(subsets) == 0 {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	for _, s := range subsets {
		for _, p := range s.Ports {
			if p.Name != port {
				continue
			}
			for _, i := range rand.Perm(len(s.Addresses)) {
				a := s.Addresses[i]
				pod := c.podAt(a)
				if pod == nil {
					continue
				}
				if err := c.Network.Pod(c.Context, pod); err != nil {
					return err
				}
				return c.proxied(&url.URL{Scheme: scheme, Host: net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port)))}, o.Path, c.Network.Pods)
			}
		}
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", c.Info.Name))
}

// podAt returns the pod of an endpoint address, nil if there is no such pod. Requests are
// passed on to pods only.
func (c *Request) podAt(a corev1.EndpointAddress) *corev1.Pod {
	if a.TargetRef == nil || a.TargetRef.Namespace != c.Info.Namespace {
		return nil
	}
	pod, err := c.pod(a.TargetRef.Name)
	if err != nil {
		return nil
	}
	has := func(ip corev1.PodIP) bool { return ip.IP == a.IP }
	if pod.Status.PodIP != a.IP && !slices.ContainsFunc(pod.Status.PodIPs, has) {
		return nil
	}
	return pod
}

// nodeProxy passes on to a kubelet, or to another port of its node.
func nodeProxy(c *Request) error {
	o, err := admitConnect(c, &corev1.NodeProxyOptions{Path: c.proxyPath()})
	if err != nil {
		return err
	}
	scheme, name, port, err := c.target("node")
	if err != nil {
		return err
	}
	to, err := c.kubelet(name)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(to.Hostname()); err != nil || !ip.IsGlobalUnicast() {
		return apierrors.NewBadRequest("address not allowed")
	}
	if port == "" || port == to.Port() {
		return c.proxied(to, o.Path, c.Network.KubeletTransport(to.Host))
	}
	return c.proxied(&url.URL{Scheme: scheme, Host: net.JoinHostPort(to.Hostname(), port)}, o.Path, c.Network.Pods)
}
