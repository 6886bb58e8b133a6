package connect

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/proxy"

	"fairlead.dev/internal/server/respond"
)

// connects are the subresources that lead to nodes. Media types are not negotiated for them,
// and the bytes that pass through are not looked at.
var connects = map[subresource]Handler{
	{corev1.Resource("pods"), "log"}:         podLog,
	{corev1.Resource("pods"), "exec"}:        podStream("exec", execOptions),
	{corev1.Resource("pods"), "attach"}:      podStream("attach", attachOptions),
	{corev1.Resource("pods"), "portforward"}: podStream("portForward", forwardOptions),
	{corev1.Resource("pods"), "proxy"}:       podProxy,
	{corev1.Resource("services"), "proxy"}:   serviceProxy,
	{corev1.Resource("nodes"), "proxy"}:      nodeProxy,
}

func (c *Request) pod(name string) (*corev1.Pod, error) {
	obj, err := c.Objects.Get(c.Context, corev1.Resource("pods"), c.Info.Namespace, name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// containerOf returns the container of a pod that the client names, or its only one.
func containerOf(pod *corev1.Pod, name string) (string, error) {
	var names []string
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	switch {
	case name == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case name == "":
		return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, names))
	case !slices.Contains(names, name):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	}
	return name, nil
}

// subresource names a subresource of a resource.
type subresource struct {
	schema.GroupResource
	name string
}

// Find returns the handler of a subresource, nil if it leads nowhere.
func Find(gr schema.GroupResource, sub string) Handler { return connects[subresource{gr, sub}] }

// podStream passes a connection with several streams on to the kubelet, which serves it under
// path. A WebSocket is opened by a GET, but it is authorized as a create.
func podStream[T runtime.Object](path string, options func(url.Values) (T, error)) Handler {
	return func(c *Request) error {
		asked, err := options(c.Query)
		if err != nil {
			return err
		}
		o, err := admitConnect(c, asked)
		if err != nil {
			return err
		}
		if err := c.Authorize("create"); err != nil {
			return err
		}
		pod, err := c.pod(c.Info.Name)
		if err != nil {
			return err
		}
		at := "/" + path + "/" + pod.Namespace + "/" + pod.Name
		name, query, inContainer := forKubelet(o)
		if inContainer {
			container, err := containerOf(pod, name)
			if err != nil {
				return err
			}
			at += "/" + container
		}
		if pod.Spec.NodeName == "" {
			return apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
		}
		to, err := c.kubelet(pod.Spec.NodeName)
		if err != nil {
			return err
		}
		to.Path, to.RawQuery = at, query.Encode()
		return c.passOn(to, c.Network.KubeletTransport(to.Host), false, true)
	}
}

// passOn answers the request with the response of another address. wrapped rewrites the links
// in pages; upgraded takes only upgrades.
func (c *Request) passOn(to *url.URL, transport http.RoundTripper, wrapped, upgraded bool) error {
	req := c.HTTP.Clone(c.Context)
	req.Header.Del("Authorization") // it is for this server
	if asked, err := url.ParseRequestURI(req.RequestURI); wrapped && err == nil {
		req.URL.Path, req.URL.RawPath = asked.Path, asked.RawPath // the path that the client knows, which links are under
	}
	err := Forward{To: to, Transport: transport, Wrapped: wrapped, Upgraded: upgraded, MaxBytesPerSec: c.MaxBytesPerSec}.Serve(c.Writer, req)
	if _, ok := err.(apierrors.APIStatus); err != nil && !ok {
		err = apierrors.NewInternalError(err)
	}
	return err
}

// Forward answers requests with the responses of another server.
type Forward struct {
	To        *url.URL
	Transport http.RoundTripper
	// Wrapped rewrites the links in pages, and Upgraded takes only upgrades.
	Wrapped, Upgraded bool
	// MaxBytesPerSec limits each direction of an upgraded connection; 0 does not.
	MaxBytesPerSec int64
}

// Serve answers one request.
func (f Forward) Serve(w *respond.Writer, req *http.Request) error {
	answer := &passing{}
	h := proxy.NewUpgradeAwareHandler(f.To, f.Transport, f.Wrapped, f.Upgraded, answer)
	h.MaxBytesPerSec = f.MaxBytesPerSec
	h.ServeHTTP(w, req)
	if answer.err == nil && w.Code == 0 {
		w.Code = http.StatusSwitchingProtocols // written past the recorder
	}
	return answer.err
}

// passing records the error of a request that could not be passed on.
type passing struct{ err error }

func (p *passing) Error(_ http.ResponseWriter, _ *http.Request, err error) { p.err = err }
