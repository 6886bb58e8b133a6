package server

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// listOptions reads the options of list, watch and deletecollection.
func (c *call) listOptions() (*internalversion.ListOptions, error) {
	return request.DecodeListOptions(c.query, c.info.Verb == "watch")
}

// selection returns the objects that the call is about: those of the selection whose version
// fields, if there are any, match.
func (c *call) selection(opts *internalversion.ListOptions) (watchcache.Selection, *represent.VersionFields, error) {
	sel := watchcache.Selection{Namespace: c.namespace(), Name: c.info.Name}
	if opts.LabelSelector != nil && !opts.LabelSelector.Empty() {
		sel.Labels = opts.LabelSelector
	}
	fs := opts.FieldSelector
	if fs == nil || fs.Empty() {
		return sel, nil, nil
	}
	fs, err := fs.Transform(func(label, value string) (string, string, error) {
		if now := c.ep.FieldAliases[label]; now != "" {
			label = now
		}
		if !c.ep.Selects(label) {
			return "", "", c.ep.FieldError(label)
		}
		return label, value, nil
	})
	if err != nil {
		return sel, nil, apierrors.NewBadRequest(err.Error())
	}
	if sel.Name != "" {
		name, ok := fs.RequiresExactMatch("metadata.name")
		if !ok || name != sel.Name {
			return sel, nil, apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		if len(fs.Requirements()) == 1 {
			return sel, nil, nil
		}
	}
	rest, p := represent.SplitFields(c.ep, fs)
	sel.Fields = rest
	return sel, p, nil
}

// everything reports whether the selection takes every object of its namespace.
func everything(sel watchcache.Selection) bool {
	return sel.Labels == nil && sel.Fields == nil && sel.Name == ""
}
