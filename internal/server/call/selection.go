package call

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"fairlead.dev/internal/server/represent"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// ListOptions decodes the options of list, watch and deletecollection.
func (c *Call) ListOptions() (*internalversion.ListOptions, error) {
	return request.DecodeListOptions(c.Query, c.Info.Verb == "watch", !c.NoWatchList)
}

// Selection returns the objects that the call is about: those of the selection whose version
// fields, if there are any, match.
func (c *Call) Selection(opts *internalversion.ListOptions) (watchcache.Selection, *represent.VersionFields, error) {
	sel := watchcache.Selection{Namespace: c.Namespace(), Name: c.Info.Name}
	if opts.LabelSelector != nil && !opts.LabelSelector.Empty() {
		sel.Labels = opts.LabelSelector
	}
	fs := opts.FieldSelector
	if fs == nil || fs.Empty() {
		return sel, nil, nil
	}
	fs, err := fs.Transform(func(label, value string) (string, string, error) {
		if now := c.Endpoint.FieldAliases[label]; now != "" {
			label = now
		}
		if !c.Endpoint.Selects(label) {
			return "", "", c.Endpoint.FieldError(label)
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
	rest, p := represent.SplitFields(c.Endpoint, fs)
	sel.Fields = rest
	return sel, p, nil
}
