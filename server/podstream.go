package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/proxy"

	"fairlead.dev/internal/server/apistatus"
)

// connects are the subresources that lead to what runs on nodes. They take no part in
// the negotiation of media, and what passes through them is not looked at.
var connects = map[Subresource]verb{
	{corev1.Resource("pods"), "log"}:         podLog,
	{corev1.Resource("pods"), "exec"}:        podStream("exec", execOptions),
	{corev1.Resource("pods"), "attach"}:      podStream("attach", attachOptions),
	{corev1.Resource("pods"), "portforward"}: podStream("portForward", forwardOptions),
	{corev1.Resource("pods"), "proxy"}:       podProxy,
	{corev1.Resource("services"), "proxy"}:   serviceProxy,
	{corev1.Resource("nodes"), "proxy"}:      nodeProxy,
}

// routeConnect finds the verb of such a subresource; nil if the path names none.
func (c *call) routeConnect() (verb, error) {
	in := &c.info
	do := connects[Subresource{c.ep.ServedGR, in.Subresource}]
	if do == nil || len(in.Parts) > 3 && in.Subresource != "proxy" || c.ep.Namespaced != (in.Namespace != "") {
		return nil, nil
	}
	if in.Subresource != "proxy" && !slices.Contains(c.ep.Subresource(in.Subresource).Verbs, in.Verb) {
		return nil, apistatus.MethodNotAllowed()
	}
	return do, nil
}

func (c *call) pod(name string) (*corev1.Pod, error) {
	obj, err := c.s.Lookup().Get(c.ctx, corev1.Resource("pods"), c.info.Namespace, name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Pod), nil
}

// containerOf is the container of a pod that the client names, or its only one.
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

// podStream passes a connection with several streams on to the kubelet, under what is
// its path there. A WebSocket is opened by a GET, but to run something in a pod is to create.
func podStream[T runtime.Object](path string, options func(url.Values) (T, error)) verb {
	return func(c *call) error {
		asked, err := options(c.query)
		if err != nil {
			return err
		}
		o, err := admitConnect(c, asked)
		if err != nil {
			return err
		}
		if err := c.authorize("create", c.info.Name); err != nil {
			return err
		}
		pod, err := c.pod(c.info.Name)
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
		return c.passOn(to, c.s.network.Kubelets, false, true)
	}
}

// passOn answers the request with what is at another address. wrapped rewrites the
// links in pages; upgraded takes nothing but upgrades.
func (c *call) passOn(to *url.URL, transport http.RoundTripper, wrapped, upgraded bool) error {
	req := c.req.Clone(c.ctx)
	req.Header.Del("Authorization") // it is for this server
	err := c.proxy(req, to, transport, wrapped, upgraded)
	if _, ok := err.(apierrors.APIStatus); err != nil && !ok {
		err = apierrors.NewInternalError(err)
	}
	return err
}

// proxy answers with what another server has to say to a request.
func (c *call) proxy(req *http.Request, to *url.URL, transport http.RoundTripper, wrapped, upgraded bool) error {
	answer := &passing{}
	h := proxy.NewUpgradeAwareHandler(to, transport, wrapped, upgraded, answer)
	h.ServeHTTP(c.w, req)
	if answer.err == nil && c.w.code == 0 {
		c.w.code = http.StatusSwitchingProtocols // written past the recorder
	}
	return answer.err
}

// passing takes the error of a request that could not be passed on.
type passing struct{ err error }

func (p *passing) Error(_ http.ResponseWriter, _ *http.Request, err error) { p.err = err }
