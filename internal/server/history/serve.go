package history

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/history"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/call"
	"fairlead.dev/internal/server/endpoint"
	"fairlead.dev/internal/server/request"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Source is where the history comes from.
type Source struct {
	// Trace is nil for a server without a trace.
	Trace *trace.Log
}

// Serve answers a request for history.Path. It authorizes it as a get of the object that the query
// names.
func (s Source) Serve(c *call.Call) error {
	if c.HTTP.Method != http.MethodGet {
		return apistatus.MethodNotAllowed()
	}
	q, err := parse(c.Query)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	one := c.For(q.namespace, q.name)
	one.Info = request.Info{
		IsResource: true, Verb: "get", Path: c.Info.Path, Prefix: "apis", Group: q.Group, Version: q.version, Resource: q.Resource,
		Namespace: q.namespace, Name: q.name,
	}
	if err := one.Authorize("get", q.name); err != nil {
		return err
	}
	for range endpoint.Redefinitions {
		if err := q.find(one); err != nil {
			return err
		}
		page, err := s.page(one, q)
		if err != nil {
			return err
		}
		if one.Outdated() {
			continue
		}
		body, err := json.Marshal(page)
		if err != nil {
			return err
		}
		return c.WriteBytes(http.StatusOK, "application/json", append(body, '\n'))
	}
	return apistatus.New(http.StatusServiceUnavailable, "", endpoint.ErrRedefined.Error())
}

// query is the parameters of a request.
type query struct {
	schema.GroupResource
	version, namespace, name string
	before                   storage.Revision
	limit                    int
	objects                  bool
}

func parse(v url.Values) (q query, err error) {
	q.GroupResource = schema.ParseGroupResource(v.Get("resource"))
	q.version, q.namespace, q.name = v.Get("version"), v.Get("namespace"), v.Get("name")
	if q.Resource == "" || q.name == "" {
		return q, fmt.Errorf("the query parameters resource and name are needed")
	}
	for _, part := range []string{q.namespace, q.name} {
		if wrong := content.IsPathSegmentName(part); len(wrong) > 0 {
			return q, fmt.Errorf("%q %s", part, wrong[0])
		}
	}
	if text := v.Get("before"); text != "" {
		if q.before, err = storage.ParseRevision(text); err != nil {
			return q, fmt.Errorf("before=%q: want a revision", text)
		}
	}
	q.limit, q.objects = history.DefaultLimit, true
	if text := v.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > history.MaxLimit {
			return q, fmt.Errorf("limit=%q: want a number from 1 to %d", text, history.MaxLimit)
		}
	}
	if text := v.Get("objects"); text != "" {
		if q.objects, err = strconv.ParseBool(text); err != nil {
			return q, fmt.Errorf("objects=%q: want true or false", text)
		}
	}
	return q, nil
}

// find sets the endpoint of the call: that of the version asked for, or of the stored one.
func (q *query) find(c *call.Call) error {
	version := q.version
	if version == "" {
		ep, err := stored(c.Context, c.Registry, q.GroupResource)
		if err != nil {
			return err
		}
		if ep != nil {
			version = ep.ServedVersion.Name
		}
	}
	ep, _, err := c.Registry.Find(c.Context, q.WithVersion(version))
	if err != nil {
		return err
	}
	if ep == nil || ep.Cache == nil {
		return apistatus.ResourceNotFound()
	}
	if ep.Namespaced != (q.namespace != "") {
		return apierrors.NewBadRequest(fmt.Sprintf("namespace=%q: %s are namespaced: %v", q.namespace, ep.ServedGR, ep.Namespaced))
	}
	c.Endpoint = ep
	return nil
}

// stored returns the endpoint of a resource's storage version, or of the first version that is
// served; nil if the resource is not served.
func stored(ctx context.Context, r *endpoint.Registry, gr schema.GroupResource) (*endpoint.Endpoint, error) {
	if ep := r.Stored(gr); ep != nil {
		return ep, nil
	}
	// Its definition may not have taken effect.
	if _, _, err := r.Find(ctx, gr.WithVersion("")); err != nil {
		return nil, err
	}
	if ep := r.Stored(gr); ep != nil {
		return ep, nil
	}
	t := r.Table()
	i := slices.IndexFunc(t.Rows, func(row *resource.Resource) bool { return row.GroupResource() == gr && row.StoragePrefix != "" })
	if i < 0 {
		return nil, nil
	}
	return t.Endpoints[t.Rows[i].GVR(t.Rows[i].Versions[0].Name)], nil
}
