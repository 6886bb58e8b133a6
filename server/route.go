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
	"fairlead.dev/internal/server/connect"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
)

// route finds the endpoint of the path and the verb that answers.
func (c *call) route() (_ verb, err error) {
	in := &c.info
	if in.Group == "" && in.Prefix == "apis" {
		return nil, apistatus.ErrPathNotFound
	}
	gvr := schema.GroupVersionResource{Group: in.Group, Version: in.Version, Resource: in.Resource}
	var t *endpoint.Table
	if c.ep, t, err = c.lookUp(gvr); err != nil {
		return nil, err
	}
	switch {
	case c.ep == nil && !t.Builtin[gvr.Group]:
		return nil, apistatus.ErrPathNotFound
	case c.ep == nil:
		return nil, apistatus.ResourceNotFound()
	}
	if do, err := c.routeConnect(); do != nil || err != nil {
		return do, err
	}
	if err := c.ep.CheckPath(in); err != nil {
		return nil, err
	}
	if c.req.Method == http.MethodHead && !c.ep.Head || in.LegacyWatch && c.req.Method != http.MethodGet {
		return nil, apistatus.MethodNotAllowed()
	}
	w := c.ep.ServedVersion.Warning
	if w != "" && c.ep.WarnsEarly { // also on a path that its kind has not
		c.warn(w)
	}
	do, err := c.routeVerb()
	if err != nil {
		return nil, err
	}
	if err := c.negotiate(); err != nil {
		return nil, err
	}
	if w != "" && !c.ep.WarnsEarly {
		c.warn(w)
	}
	if err := c.namespaceFits(); err != nil {
		return nil, err
	}
	return do, c.nameFits()
}

// namespaceFits refuses the namespaces . and .., which would leave the keys of the resource.
// kube-apiserver answers them with server errors.
func (c *call) namespaceFits() error {
	in := &c.info
	if in.Namespace != "." && in.Namespace != ".." || c.ep.Virtual || !c.ep.Namespaced {
		return nil
	}
	if in.Verb == "create" {
		return apierrors.NewInternalError(fmt.Errorf("invalid resource name %q: [may not be '%s']", in.Namespace, in.Namespace))
	}
	key := strings.TrimPrefix(c.ep.StoragePrefix, "/registry") + "/" + in.Namespace
	if in.Name != "" {
		key += "/" + in.Name
	}
	return fmt.Errorf("invalid key: %q", key)
}

// nameFits refuses names that cannot be part of a path.
func (c *call) nameFits() error {
	if c.ep.Virtual || len(c.info.Parts) < 2 {
		return nil
	}
	if msgs := content.IsPathSegmentName(c.info.Name); len(msgs) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", c.info.Name, strings.Join(msgs, ";")))
	}
	return nil
}

func (c *call) negotiate() (err error) {
	collection := c.req.Method == http.MethodGet && (len(c.info.Parts) == 1 || c.info.LegacyWatch)
	sub := c.ep.Subresource(c.info.Subresource)
	c.accept, err = c.s.offer.Negotiate(c.req, request.Constraints{
		Collection: collection, Stream: c.info.Verb == "watch",
		Custom: !c.ep.Protobuf && c.info.Subresource != "scale",
		// Reviews, bindings and the like are made and never read.
		NoTable: c.ep.Virtual && !c.ep.Has("list") || sub != nil && !slices.Contains(sub.Verbs, "get"),
	})
	return err
}

// routeVerb picks the verb that answers.
func (c *call) routeVerb() (verb, error) {
	in := &c.info
	if in.Subresource != "" {
		return c.routeSubresource()
	}
	named := len(in.Parts) > 1
	if c.ep.Virtual {
		if in.Verb == "create" && !named && c.ep.Has("create") {
			return review, nil
		}
		return c.virtualRead(named)
	}
	want := in.Verb
	if c.ep.Namespaced && in.Namespace == "" && !slices.Contains([]string{"list", "watch"}, want) {
		return nil, c.ep.MethodNotAllowed(in)
	}
	var do verb
	switch want {
	case "get":
		do = get
	case "list":
		do = list
	case "watch":
		do = watchVerb
	case "create":
		if !named || c.ep.PostToName {
			do = create
		}
	case "update":
		if named {
			do = update
		}
	case "patch":
		if named {
			do = patchVerb
		}
	case "delete":
		do = deleteVerb
	case "deletecollection":
		do = deleteCollection
	}
	if do == nil || !c.ep.Has(want) {
		return nil, c.ep.MethodNotAllowed(in)
	}
	return do, nil
}

// virtualRead picks the verb for reads of resources that are not stored.
func (c *call) virtualRead(named bool) (verb, error) {
	if c.ep.Has(c.info.Verb) && (c.info.Verb == "get" || c.info.Verb == "list") {
		return serveComputed, nil
	}
	if named && !c.ep.Has("get") {
		return nil, apistatus.ResourceNotFound()
	}
	return nil, apistatus.MethodNotAllowed()
}

// routeSubresource picks the verb for a subresource of one object.
func (c *call) routeSubresource() (verb, error) {
	sub := c.ep.Subresource(c.info.Subresource)
	if sub == nil {
		return nil, c.ep.NoSubresource(c.info.Name)
	}
	if !slices.Contains(sub.Verbs, c.info.Verb) {
		return nil, c.ep.MethodNotAllowed(&c.info)
	}
	key := Subresource{c.ep.ServedGR, sub.Name}
	if c.info.Verb == "create" {
		if f := c.s.cfg.Subresources[key]; f != nil {
			return subresourceCreate(f), nil
		}
		if do := builtinCreates[sub.Name]; do != nil {
			return do, nil
		}
		return nil, apistatus.MethodNotAllowed()
	}
	if sub.Name == "scale" {
		return scale, nil
	}
	switch c.info.Verb {
	case "get":
		return get, nil
	case "update":
		return update, nil
	case "patch":
		return patchVerb, nil
	}
	return nil, apistatus.MethodNotAllowed()
}

// routeConnect finds the verb of a subresource that leads elsewhere; nil if the path names
// none.
func (c *call) routeConnect() (verb, error) {
	in := &c.info
	do := connect.Find(c.ep.ServedGR, in.Subresource)
	if do == nil || len(in.Parts) > 3 && in.Subresource != "proxy" || c.ep.Namespaced != (in.Namespace != "") {
		return nil, nil
	}
	if in.Subresource != "proxy" && !slices.Contains(c.ep.Subresource(in.Subresource).Verbs, in.Verb) {
		return nil, apistatus.MethodNotAllowed()
	}
	return func(c *call) error {
		return do(&connect.Request{
			HTTP: c.req, Context: c.ctx, Writer: c.w, Query: c.query, Info: &c.info, Objects: c.s.Lookup(), Network: c.s.network,
			Authorize: func(verb string) error { return c.authorize(verb, c.info.Name) },
			Admit:     c.admitConnect,
		})
	}, nil
}

// admitConnect asks admission about a connection's options and returns them as mutating
// plugins have left them.
func (c *call) admitConnect(options runtime.Object) (runtime.Object, error) {
	r := c.admission(admission.Connect, options, nil, nil)
	if err := c.chain().All(c.ctx, r); err != nil {
		return nil, err
	}
	r.Done(true)
	return r.Object, nil
}
