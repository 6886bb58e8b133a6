package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// route finds the endpoint of the path and the verb that answers.
func (c *call) route() (_ verb, err error) {
	in := &c.info
	if in.group == "" && in.prefix == "apis" {
		return nil, errNotFoundPath
	}
	gvr := schema.GroupVersionResource{Group: in.group, Version: in.version, Resource: in.resource}
	var t *table
	if c.ep, t, err = c.lookUp(gvr); err != nil {
		return nil, err
	}
	switch {
	case c.ep == nil && !t.builtin[gvr.Group]:
		return nil, errNotFoundPath
	case c.ep == nil:
		return nil, noSuchResource()
	}
	if do, err := c.routeConnect(); do != nil || err != nil {
		return do, err
	}
	if err := c.ep.kind.checkPath(in); err != nil {
		return nil, err
	}
	if c.req.Method == http.MethodHead && !c.ep.head || in.legacyWatch && c.req.Method != http.MethodGet {
		return nil, methodNotAllowed()
	}
	w := c.ep.version.Warning
	if w != "" && c.ep.warnsEarly { // also on a path that its kind has not
		c.warn(w)
	}
	do, err := c.routeVerb()
	if err != nil {
		return nil, err
	}
	if err := c.negotiate(); err != nil {
		return nil, err
	}
	if w != "" && !c.ep.warnsEarly {
		c.warn(w)
	}
	if err := c.namespaceFits(); err != nil {
		return nil, err
	}
	return do, c.nameFits()
}

// namespaceFits refuses the namespaces . and .., which would lead out of the keys of the
// resource. They are no fault of the client's in kube-apiserver's eyes.
func (c *call) namespaceFits() error {
	in := &c.info
	if in.namespace != "." && in.namespace != ".." || c.ep.Virtual || !c.ep.Namespaced {
		return nil
	}
	if in.verb == "create" {
		return apierrors.NewInternalError(fmt.Errorf("invalid resource name %q: [may not be '%s']", in.namespace, in.namespace))
	}
	key := strings.TrimPrefix(c.ep.StoragePrefix, "/registry") + "/" + in.namespace
	if in.name != "" {
		key += "/" + in.name
	}
	return fmt.Errorf("invalid key: %q", key)
}

// nameFits refuses names that could not be part of a path.
func (c *call) nameFits() error {
	if c.ep.Virtual || len(c.info.parts) < 2 {
		return nil
	}
	if msgs := content.IsPathSegmentName(c.info.name); len(msgs) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", c.info.name, strings.Join(msgs, ";")))
	}
	return nil
}

func (c *call) negotiate() (err error) {
	collection := c.req.Method == http.MethodGet && (len(c.info.parts) == 1 || c.info.legacyWatch)
	sub := c.ep.Subresource(c.info.subresource)
	c.accept, err = c.s.offer.negotiate(c.req, request{
		collection: collection, stream: c.info.verb == "watch",
		custom: !c.ep.protobuf && c.info.subresource != "scale",
		// Reviews, bindings and the like are made and never read.
		noTable: c.ep.Virtual && !c.ep.Has("list") || sub != nil && !slices.Contains(sub.Verbs, "get"),
	})
	return err
}

// routeVerb picks the verb that answers.
func (c *call) routeVerb() (verb, error) {
	in := &c.info
	if in.subresource != "" {
		return c.routeSubresource()
	}
	named := len(in.parts) > 1
	if c.ep.Virtual {
		if in.verb == "create" && !named && c.ep.Has("create") {
			return review, nil
		}
		return c.virtualRead(named)
	}
	want := in.verb
	if c.ep.Namespaced && in.namespace == "" && !slices.Contains([]string{"list", "watch"}, want) {
		return nil, c.ep.kind.methodNotAllowed(in)
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
		if !named || c.ep.postToName {
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
		return nil, c.ep.kind.methodNotAllowed(in)
	}
	return do, nil
}

// virtualRead is for kinds that are not stored and yet can be read.
func (c *call) virtualRead(named bool) (verb, error) {
	if c.ep.Has(c.info.verb) && (c.info.verb == "get" || c.info.verb == "list") {
		return measured, nil
	}
	if named && !c.ep.Has("get") {
		return nil, noSuchResource()
	}
	return nil, methodNotAllowed()
}

// routeSubresource picks the verb for a subresource of one object.
func (c *call) routeSubresource() (verb, error) {
	sub := c.ep.Subresource(c.info.subresource)
	if sub == nil {
		return nil, c.ep.kind.noSubresource(c.info.name)
	}
	if !slices.Contains(sub.Verbs, c.info.verb) {
		return nil, c.ep.kind.methodNotAllowed(&c.info)
	}
	key := Subresource{c.ep.gr, sub.Name}
	if c.info.verb == "create" {
		if f := c.s.cfg.Subresources[key]; f != nil {
			return subresourceCreate(f), nil
		}
		if do := builtinCreates[sub.Name]; do != nil {
			return do, nil
		}
		return nil, methodNotAllowed()
	}
	if sub.Name == "scale" {
		return scale, nil
	}
	switch c.info.verb {
	case "get":
		return get, nil
	case "update":
		return update, nil
	case "patch":
		return patchVerb, nil
	}
	return nil, methodNotAllowed()
}
