package server

import (
	"net/http"
	"slices"

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
	case c.ep.Custom != nil && !c.customPathFits():
		return nil, errNotFoundPath
	}
	if do, err := c.routeConnect(); do != nil || err != nil {
		return do, err
	}
	switch {
	case !c.pathFits():
		return nil, noSuchResource()
	case c.req.Method == http.MethodHead:
		return nil, methodNotAllowed()
	}
	if err := c.negotiate(); err != nil {
		return nil, err
	}
	if w := c.ep.version.Warning; w != "" {
		c.warn(w)
	}
	if in.subresource != "" {
		return c.routeSubresource()
	}
	return c.routeVerb()
}

// pathFits says whether the path is one of those a resource of this scope has.
func (c *call) pathFits() bool {
	in := &c.info
	if len(in.parts) > 3 || in.verb == "proxy" {
		return false
	}
	if c.ep.gr == (schema.GroupResource{Resource: "namespaces"}) {
		return true
	}
	if !c.ep.Namespaced {
		return in.namespace == ""
	}
	// Objects of all namespaces can be listed, one of them needs a namespace.
	return in.namespace != "" || len(in.parts) == 1
}

// customPathFits is the same for custom kinds, where every path of a namespaced
// one has a namespace but those that read all.
func (c *call) customPathFits() bool {
	in := &c.info
	if c.ep.Namespaced && in.namespace == "" {
		return len(in.parts) == 1 && (in.verb == "list" || in.verb == "watch")
	}
	return c.pathFits()
}

func (c *call) negotiate() (err error) {
	collection := c.req.Method == http.MethodGet && (len(c.info.parts) == 1 || c.info.legacyWatch)
	c.accept, err = c.s.offer.negotiate(c.req, collection, c.info.verb == "watch", c.ep.Custom != nil && c.info.subresource != "scale")
	return err
}

// routeVerb picks the verb for the resource itself.
func (c *call) routeVerb() (verb, error) {
	in := &c.info
	named := len(in.parts) > 1
	if c.ep.Virtual {
		if in.verb == "create" && !named {
			return review, nil
		}
		return c.virtualRead(named)
	}
	want := in.verb
	if c.ep.Namespaced && in.namespace == "" && !slices.Contains([]string{"list", "watch"}, want) {
		return nil, methodNotAllowed()
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
		if !named {
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
		return nil, methodNotAllowed()
	}
	return do, nil
}

// virtualRead is for kinds that are not stored and yet can be read.
func (c *call) virtualRead(named bool) (verb, error) {
	if read := c.s.cfg.Reads[c.ep.gr]; read != nil && (c.info.verb == "get" || c.info.verb == "list") {
		return measured(read), nil
	}
	if c.ep.Has("list") && c.req.Method == http.MethodGet {
		return componentStatuses, nil
	}
	return nil, methodNotAllowed()
}

// routeSubresource picks the verb for a subresource of one object.
func (c *call) routeSubresource() (verb, error) {
	sub := c.ep.Subresource(c.info.subresource)
	if sub == nil && c.ep.Custom != nil {
		return nil, c.notFound(c.info.name)
	}
	if sub == nil {
		return nil, noSuchResource()
	}
	if !slices.Contains(sub.Verbs, c.info.verb) {
		return nil, methodNotAllowed()
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
