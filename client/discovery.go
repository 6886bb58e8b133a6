package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// Mapping is how a kind is reached on the server.
type Mapping struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
}

// APIResource is one resource that the server serves in one version.
type APIResource struct {
	GVR        schema.GroupVersionResource
	Kind       schema.GroupVersionKind // of its objects
	Namespaced bool
	Verbs      []string
	// Singular and ShortNames are its other names in kubectl.
	Singular   string
	ShortNames []string
	// Preferred reports whether this version is the server's preferred one of the group.
	Preferred bool
}

// Can reports whether the resource has all the verbs.
func (r APIResource) Can(verbs ...string) bool {
	for _, v := range verbs {
		if !slices.Contains(r.Verbs, v) {
			return false
		}
	}
	return true
}

// discovery keeps, per group and version, which kinds the server has.
type discovery struct {
	rest  *REST
	known sync.Map // schema.GroupVersionKind -> Mapping
	mu    struct {
		sync.Mutex
		asking map[schema.GroupVersion]*asking
	}
}

// asking is one request for a group version that several callers may wait for.
type asking struct {
	done chan struct{}
	err  error
}

func newDiscovery(r *REST) *discovery {
	d := &discovery{rest: r}
	d.mu.asking = map[schema.GroupVersion]*asking{}
	return d
}

// Mapping returns the resource of a kind. The answer is cached; a kind that is not in the
// cache is looked up again each time. The error is a *meta.NoKindMatchError if the server
// does not have the kind.
func (c *Client) Mapping(ctx context.Context, gvk schema.GroupVersionKind) (Mapping, error) {
	d := c.disco
	if m, ok := d.known.Load(gvk); ok {
		return m.(Mapping), nil
	}
	for {
		err, mine := d.ask(ctx, gvk.GroupVersion())
		if m, ok := d.known.Load(gvk); ok {
			return m.(Mapping), nil
		}
		if !mine && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) && ctx.Err() == nil {
			continue // the asker that we waited for gave up, not we
		}
		if err == nil || apierrors.IsNotFound(err) {
			err = &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
		}
		return Mapping{}, err
	}
}

// ask fetches the kinds of gv, or waits for the goroutine that does so already.
func (d *discovery) ask(ctx context.Context, gv schema.GroupVersion) (err error, mine bool) {
	d.mu.Lock()
	a, busy := d.mu.asking[gv]
	if !busy {
		a = &asking{done: make(chan struct{})}
		d.mu.asking[gv] = a
	}
	d.mu.Unlock()
	if busy {
		select {
		case <-a.done:
			return a.err, false
		case <-ctx.Done():
			return ctx.Err(), true
		}
	}
	var rs []APIResource
	rs, a.err = d.version(ctx, gv)
	for _, r := range rs {
		d.known.Store(r.Kind, Mapping{GVR: r.GVR, Namespaced: r.Namespaced})
	}
	d.mu.Lock()
	delete(d.mu.asking, gv)
	d.mu.Unlock()
	close(a.done)
	return a.err, true
}

// version reads the resources of one group version.
func (d *discovery) version(ctx context.Context, gv schema.GroupVersion) ([]APIResource, error) {
	var l metav1.APIResourceList
	if err := d.get(ctx, versionPath(gv), ContentTypeJSON, &l); err != nil {
		return nil, err
	}
	var rs []APIResource
	for _, r := range l.APIResources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		kind := gv.WithKind(r.Kind)
		if r.Version != "" { // the object's, where it differs from the path's
			kind.Group, kind.Version = r.Group, r.Version
		}
		rs = append(rs, APIResource{GVR: gv.WithResource(r.Name), Kind: kind, Namespaced: r.Namespaced, Verbs: r.Verbs, Singular: r.SingularName, ShortNames: r.ShortNames})
	}
	return rs, nil
}

func (d *discovery) get(ctx context.Context, path, accept string, into any) error {
	res, err := d.rest.Do(ctx, Request{Path: path, Accept: accept})
	if err != nil {
		return err
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(res.Body, into); err != nil {
		return fmt.Errorf("client: discovery at %s: %w", path, err)
	}
	return nil
}

func versionPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

const (
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," + ContentTypeJSON
)

// GroupDiscoveryError is the error that ServerResources returns beside the resources that
// it found: the versions whose resources are unknown, with the reason.
type GroupDiscoveryError map[schema.GroupVersion]error

func (m GroupDiscoveryError) Error() string {
	var all []string
	for gv, err := range m {
		all = append(all, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(all)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(all, ", ")
}

// ServerResources asks the server for everything it serves, in all versions, without
// subresources. Versions whose own server does not answer are left out; the error is
// GroupDiscoveryError then, and comes beside the rest.
func (c *Client) ServerResources(ctx context.Context) ([]APIResource, error) {
	var all []APIResource
	var errs []error
	missing := GroupDiscoveryError{}
	for _, path := range []string{"/api", "/apis"} {
		rs, err := c.disco.root(ctx, path, missing)
		all = append(all, rs...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, r := range all {
		c.disco.known.Store(r.Kind, Mapping{GVR: r.GVR, Namespaced: r.Namespaced})
	}
	if len(errs) == 0 && len(missing) > 0 {
		return all, missing
	}
	return all, errors.Join(errs...)
}

// rootAnswer is any of the three answers that /api and /apis may give.
type rootAnswer struct {
	Kind     string                             `json:"kind"`
	Items    []apidiscoveryv2.APIGroupDiscovery `json:"items"`
	Versions []string                           `json:"versions"` // APIVersions
	Groups   []metav1.APIGroup                  `json:"groups"`   // APIGroupList
}

// root reads the groups of a path, and records versions that fail in missing.
func (d *discovery) root(ctx context.Context, path string, missing GroupDiscoveryError) ([]APIResource, error) {
	var a rootAnswer
	if err := d.get(ctx, path, aggregated, &a); err != nil {
		return nil, err
	}
	if a.Kind == "APIGroupDiscoveryList" {
		return fromAggregated(a.Items, missing), nil
	}
	for _, v := range a.Versions {
		a.Groups = append(a.Groups, metav1.APIGroup{Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: v, Version: v}}})
	}
	var all []APIResource
	for _, g := range a.Groups {
		for i, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			rs, err := d.version(ctx, gv)
			if err != nil {
				missing[gv] = err
				continue
			}
			for _, r := range rs {
				r.Preferred = v.Version == g.PreferredVersion.Version || g.PreferredVersion.Version == "" && i == 0
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func fromAggregated(groups []apidiscoveryv2.APIGroupDiscovery, missing GroupDiscoveryError) []APIResource {
	var all []APIResource
	for _, g := range groups {
		for i, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				missing[gv] = fmt.Errorf("stale GroupVersion discovery: %s", gv)
			}
			for _, r := range v.Resources {
				kind := gv.WithKind("")
				if k := r.ResponseKind; k != nil {
					kind.Kind = k.Kind
					if k.Version != "" {
						kind.Group, kind.Version = k.Group, k.Version
					}
				}
				all = append(all, APIResource{
					GVR: gv.WithResource(r.Resource), Kind: kind, Verbs: r.Verbs, Singular: r.SingularResource, ShortNames: r.ShortNames,
					Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, Preferred: i == 0,
				})
			}
		}
	}
	return all
}
