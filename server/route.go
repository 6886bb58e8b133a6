package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/connect"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/metrics"
	"fairlead.dev/internal/server/read"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// route finds the endpoint of the path and the verb that answers.
func (s *Server) route(c *call.Call) (_ call.Verb, err error) {
	in := &c.Info
	if in.Group == "" && in.Prefix == "apis" {
		return nil, apistatus.ErrPathNotFound
	}
	gvr := schema.GroupVersionResource{Group: in.Group, Version: in.Version, Resource: in.Resource}
	var t *endpoint.Table
	if c.Endpoint, t, err = c.Registry.Find(c.Context, gvr); err != nil {
		return nil, err
	}
	switch {
	case c.Endpoint == nil && !t.Builtin[gvr.Group]:
		return nil, apistatus.ErrPathNotFound
	case c.Endpoint == nil:
		return nil, apistatus.ResourceNotFound()
	}
	if do, err := s.routeConnect(c); do != nil || err != nil {
		return do, err
	}
	if err := c.Endpoint.CheckPath(in); err != nil {
		return nil, err
	}
	if c.HTTP.Method == http.MethodHead && !c.Endpoint.Head || in.LegacyWatch && c.HTTP.Method != http.MethodGet {
		return nil, apistatus.MethodNotAllowed()
	}
	w := c.Endpoint.ServedVersion.Warning
	if w != "" && c.Endpoint.WarnsEarly { // also on a path that its kind has not
		s.warnDeprecated(c, w)
	}
	do, err := s.routeVerb(c)
	if err != nil {
		return nil, err
	}
	if err := s.negotiate(c); err != nil {
		return nil, err
	}
	if w != "" && !c.Endpoint.WarnsEarly {
		s.warnDeprecated(c, w)
	}
	if err := namespaceFits(c); err != nil {
		return nil, err
	}
	return do, nameFits(c)
}

// warnDeprecated adds the warning of a deprecated version to the response, and an annotation to the audit event, and notes the
// request.
func (s *Server) warnDeprecated(c *call.Call, warning string) {
	c.Warn(warning)
	s.metrics.Deprecated(metrics.Route{Endpoint: c.Endpoint, Subresource: knownSubresource(c)}, warning)
	audit.Annotate(c.Context, "k8s.io/deprecated", "true")
}

// namespaceFits refuses the namespaces . and .., which would leave the keys of the resource.
// kube-apiserver answers them with server errors.
func namespaceFits(c *call.Call) error {
	in := &c.Info
	if in.Namespace != "." && in.Namespace != ".." || c.Endpoint.Virtual || !c.Endpoint.Namespaced {
		return nil
	}
	if in.Verb == "create" {
		return apierrors.NewInternalError(fmt.Errorf("invalid resource name %q: [may not be '%s']", in.Namespace, in.Namespace))
	}
	key := strings.TrimPrefix(c.Endpoint.StoragePrefix, "/registry") + "/" + in.Namespace
	if in.Name != "" {
		key += "/" + in.Name
	}
	return fmt.Errorf("invalid key: %q", key)
}

// nameFits refuses names that cannot be part of a path.
func nameFits(c *call.Call) error {
	if c.Endpoint.Virtual || len(c.Info.Parts) < 2 {
		return nil
	}
	if msgs := content.IsPathSegmentName(c.Info.Name); len(msgs) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", c.Info.Name, strings.Join(msgs, ";")))
	}
	return nil
}

func (s *Server) negotiate(c *call.Call) (err error) {
	collection := c.HTTP.Method == http.MethodGet && (len(c.Info.Parts) == 1 || c.Info.LegacyWatch)
	sub := c.Endpoint.Subresource(c.Info.Subresource)
	c.Accept, err = c.Negotiator.Negotiate(c.HTTP, request.Constraints{
		Collection: collection, Stream: c.Info.Verb == "watch",
		Custom: !c.Endpoint.Protobuf && c.Info.Subresource != "scale",
		// Reviews, bindings and the like are made and never read.
		NoTable: c.Endpoint.Virtual && !c.Endpoint.Has("list") || sub != nil && !slices.Contains(sub.Verbs, "get"),
	})
	return err
}

// routeVerb picks the verb that answers.
func (s *Server) routeVerb(c *call.Call) (call.Verb, error) {
	in := &c.Info
	if in.Subresource != "" {
		return s.routeSubresource(c)
	}
	named := len(in.Parts) > 1
	if c.Endpoint.Virtual {
		if in.Verb == "create" && !named && c.Endpoint.Has("create") {
			watchcache.Recheck(c.Context) // no commit compares the objects that it reads
			if do := s.reviews[c.Endpoint.ServedGR]; do != nil {
				return do, nil
			}
			return nil, apistatus.MethodNotAllowed()
		}
		return s.virtualRead(c, named)
	}
	want := in.Verb
	if c.Endpoint.Namespaced && in.Namespace == "" && !slices.Contains([]string{"list", "watch"}, want) {
		return nil, c.Endpoint.MethodNotAllowed(in)
	}
	var do call.Verb
	switch want {
	case "get":
		do = read.Get
	case "list":
		do = read.List
	case "watch":
		do = s.watches.Serve
	case "create":
		if !named || c.Endpoint.PostToName {
			do = s.writer.Create
		}
	case "update":
		if named {
			do = s.writer.Update
		}
	case "patch":
		if named {
			do = s.writer.Patch
		}
	case "delete":
		do = s.writer.Delete
	case "deletecollection":
		do = s.writer.DeleteCollection
	}
	if do == nil || !c.Endpoint.Has(want) {
		return nil, c.Endpoint.MethodNotAllowed(in)
	}
	return do, nil
}

// virtualRead picks the verb for reads of resources that are not stored.
func (s *Server) virtualRead(c *call.Call, named bool) (call.Verb, error) {
	if c.Endpoint.Has(c.Info.Verb) && (c.Info.Verb == "get" || c.Info.Verb == "list") {
		return read.Computed(s.cfg.Reads[c.Endpoint.ServedGR]).Serve, nil
	}
	if named && !c.Endpoint.Has("get") {
		return nil, apistatus.ResourceNotFound()
	}
	return nil, apistatus.MethodNotAllowed()
}

// routeSubresource picks the verb for a subresource of one object.
func (s *Server) routeSubresource(c *call.Call) (call.Verb, error) {
	sub := c.Endpoint.Subresource(c.Info.Subresource)
	if sub == nil {
		return nil, c.Endpoint.NoSubresource(c.Info.Name)
	}
	if !slices.Contains(sub.Verbs, c.Info.Verb) {
		return nil, c.Endpoint.MethodNotAllowed(&c.Info)
	}
	if c.Info.Verb == "create" {
		if do := s.creates[Subresource{c.Endpoint.ServedGR, sub.Name}]; do != nil {
			return do, nil
		}
		return nil, apistatus.MethodNotAllowed()
	}
	if sub.Name == "scale" {
		return s.writer.Scale, nil
	}
	switch c.Info.Verb {
	case "get":
		return read.Get, nil
	case "update":
		return s.writer.Update, nil
	case "patch":
		return s.writer.Patch, nil
	}
	return nil, apistatus.MethodNotAllowed()
}

// routeConnect finds the verb of a subresource that connects to a kubelet, pod or service; nil
// for any other path.
func (s *Server) routeConnect(c *call.Call) (call.Verb, error) {
	in := &c.Info
	do := connect.Find(c.Endpoint.ServedGR, in.Subresource)
	if do == nil || len(in.Parts) > 3 && in.Subresource != "proxy" || c.Endpoint.Namespaced != (in.Namespace != "") {
		return nil, nil
	}
	if in.Subresource != "proxy" && !slices.Contains(c.Endpoint.Subresource(in.Subresource).Verbs, in.Verb) {
		return nil, apistatus.MethodNotAllowed()
	}
	return func(c *call.Call) error {
		watchcache.Recheck(c.Context) // no commit compares the objects that it reads
		return do(&connect.Request{
			HTTP: c.HTTP, Context: c.Context, Writer: c.Writer, Query: c.Query, Info: &c.Info, Objects: s.Lookup(), Network: s.network,
			MaxBytesPerSec: s.cfg.MaxConnectionBytesPerSec,
			Authorize:      func(verb string) error { return c.Authorize(verb, c.Info.Name) },
			Admit:          func(options runtime.Object) (runtime.Object, error) { return s.admitConnect(c, options) },
		})
	}, nil
}

// admitConnect asks admission about a connection's options and returns them as mutating
// plugins have left them.
func (s *Server) admitConnect(c *call.Call, options runtime.Object) (runtime.Object, error) {
	r := s.writer.Operation(c).AdmissionRequest(admission.Connect, options, nil, nil)
	if err := s.writer.Admission.All(c.Context, r); err != nil {
		return nil, err
	}
	r.Done(true)
	return r.Object, nil
}
