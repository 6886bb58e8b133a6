package lives

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/why"
)

// mapper reads objects, and finds their relations.
type mapper struct {
	gatherer
	namespace string                        // whose objects are read; "" means all
	resources map[string]client.APIResource // by any name of a kind; the zero value is of an unknown one
	nodes     []*mapNode
	byName    map[[3]string]*mapNode // by resource, namespace and name
	within    map[[2]string][]*mapNode
	listed    map[string]bool // the resources whose objects were read
	forbidden []string
	edges     []nodeEdge
	done      int // how many of the nodes have their edges
}

// mapNode is an object of a map.
type mapNode struct {
	why.Subject
	labels labels.Set
}

type nodeEdge struct {
	from, to *mapNode
	verb     string
}

// related are the built-in kinds, besides the surveyed ones, that have relations by other fields than their ownerReferences.
var related = []string{"serviceaccounts", "networkpolicies.networking.k8s.io", "rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io"}

// referring are the kinds without a namespace that have relations to objects of a namespace which do not refer to them.
var referring = []string{
	"clusterrolebindings.rbac.authorization.k8s.io", "apiservices.apiregistration.k8s.io",
	"validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
}

// unmapped are the kinds that are not in maps: records of other objects, and heartbeats.
var unmapped = append(slices.Clone(unsurveyed), "leases.coordination.k8s.io")

func newMapper(ctx context.Context, c *client.Client, namespace string) (*mapper, error) {
	g, err := gather(ctx, c)
	return &mapper{
		gatherer: g, namespace: namespace, resources: map[string]client.APIResource{},
		byName: map[[3]string]*mapNode{}, within: map[[2]string][]*mapNode{}, listed: map[string]bool{},
	}, err
}

// whole reports whether the objects of a kind are read with all their fields, and not their metadata alone.
func whole(name string) bool {
	_, group, _ := strings.Cut(name, ".")
	custom := strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") || group == "gateway.networking.k8s.io"
	return custom || slices.Contains(surveyed, name) || slices.Contains(related, name)
}

// read reads all objects that can be in the map, and finds their relations.
func (m *mapper) read(ctx context.Context) error {
	for _, r := range m.kinds {
		name := r.GVR.GroupResource().String()
		if m.listed[name] || !r.Can("list") || slices.Contains(unmapped, name) || m.namespace != "" && !r.Namespaced {
			continue
		}
		m.listed[name] = true
		if err := m.list(ctx, r, whole(name), func(s why.Subject) { m.add(s) }); err != nil {
			return err
		}
	}
	if err := m.relate(ctx); err != nil || m.namespace == "" {
		return err
	}
	for _, name := range referring {
		r := m.resource(name)
		if r.GVR.Resource == "" {
			continue
		}
		if err := m.list(ctx, r, true, func(s why.Subject) {
			if m.refers(&s) {
				m.add(s)
			}
		}); err != nil {
			return err
		}
	}
	return m.relate(ctx)
}

// list reads the objects of a kind, in the map's namespace.
func (m *mapper) list(ctx context.Context, r client.APIResource, whole bool, each func(why.Subject)) error {
	err := m.pages(ctx, r, m.namespace, whole, func(o map[string]any) {
		each(subjectOf(r, metadata(o, "namespace"), metadata(o, "name"), o))
	})
	switch {
	case apierrors.IsForbidden(err):
		m.forbid(r)
	case err != nil && !silent(err):
		return err
	}
	return nil
}

func (m *mapper) forbid(r client.APIResource) {
	if name := r.GVR.GroupResource().String(); !slices.Contains(m.forbidden, name) {
		m.forbidden = append(m.forbidden, name)
	}
}

// add adds an object to the map, once.
func (m *mapper) add(s why.Subject) *mapNode {
	key := [3]string{s.Resource, s.Namespace, s.Name}
	if n := m.byName[key]; n != nil {
		return n
	}
	n := &mapNode{Subject: s, labels: labelsOf(s.Object)}
	m.nodes, m.byName[key] = append(m.nodes, n), n
	m.within[[2]string{s.Resource, s.Namespace}] = append(m.within[[2]string{s.Resource, s.Namespace}], n)
	return n
}

// resource finds a kind by any of its names.
func (m *mapper) resource(name string) client.APIResource {
	r, ok := m.resources[name]
	if !ok {
		r, _ = Find(m.kinds, name) // an unknown kind has no objects
		m.resources[name] = r
	}
	return r
}

// key identifies the object of a relation.
func (m *mapper) key(r client.APIResource, l why.Relation) [3]string {
	namespace := l.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	return [3]string{r.GVR.GroupResource().String(), namespace, l.Name}
}

// refers reports whether an object has a relation to an object of the map.
func (m *mapper) refers(s *why.Subject) bool {
	return slices.ContainsFunc(s.Relations(), func(l why.Relation) bool { return m.byName[m.key(m.resource(l.Resource), l)] != nil })
}

// relate finds the relations of new nodes, and reads the objects that they name and the map does not have.
func (m *mapper) relate(ctx context.Context) error {
	for ; m.done < len(m.nodes); m.done++ { // nodes are added meanwhile
		n := m.nodes[m.done]
		for _, l := range n.Relations() {
			others, err := m.others(ctx, l)
			if err != nil {
				return err
			}
			for _, other := range others {
				e := nodeEdge{n, other, l.Verb}
				if l.Passive {
					e.from, e.to = other, n
				}
				m.edges = append(m.edges, e)
				if n.Resource == "services" && l.Verb == why.Selects {
					n.Parts = append(n.Parts, other.Subject)
				}
			}
		}
		if n.Resource == "services" {
			n.Parts, n.Forbidden = append(n.Parts, m.slices(n)...), m.forbidden
		}
	}
	return nil
}

// slices are the EndpointSlices of a Service, by which its state is known.
func (m *mapper) slices(service *mapNode) (parts []why.Subject) {
	for _, n := range m.within[[2]string{"endpointslices.discovery.k8s.io", service.Namespace}] {
		if n.labels["kubernetes.io/service-name"] == service.Name {
			parts = append(parts, n.Subject)
		}
	}
	return parts
}

// others returns the other nodes of a relation.
func (m *mapper) others(ctx context.Context, l why.Relation) ([]*mapNode, error) {
	r := m.resource(l.Resource)
	key := m.key(r, l)
	if l.Selector != nil {
		var all []*mapNode
		for _, n := range m.within[[2]string{key[0], key[1]}] {
			if n.Object != nil && l.Selector.Matches(n.labels) {
				all = append(all, n)
			}
		}
		return all, nil
	}
	n := m.byName[key]
	if n == nil {
		var err error
		if n, err = m.named(ctx, r, key, l.Optional); n == nil || err != nil {
			return nil, err
		}
	}
	if l.UID != "" && metadata(n.Object, "uid") != l.UID || l.Optional && n.Object == nil {
		return nil, nil
	}
	return []*mapNode{n}, nil
}

// named reads an object that the map does not have; nil if the user may not get it. Of one that does not exist it makes a node,
// unless it is optional.
func (m *mapper) named(ctx context.Context, r client.APIResource, key [3]string, optional bool) (*mapNode, error) {
	if r.GVR.Resource == "" || slices.Contains(m.forbidden, key[0]) || slices.Contains(unmapped, key[0]) {
		return nil, nil
	}
	object := map[string]any{}
	err := errMissing
	if !m.listed[key[0]] || key[1] != m.namespace && m.namespace != "" {
		err = m.get(ctx, client.Request{Path: Collection(r, key[1]) + "/" + url.PathEscape(key[2])}, &object)
	}
	switch {
	case apierrors.IsForbidden(err):
		m.forbid(r)
		return nil, nil
	case errors.Is(err, errMissing) || apierrors.IsNotFound(err):
		if optional {
			return nil, nil
		}
		object = nil
	case err != nil && silent(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return m.add(subjectOf(r, key[1], key[2], object)), nil
}

var errMissing = errors.New("the object does not exist")

// silent reports whether an error means that the server of a kind does not answer, or does not have it any more: a problem of
// its own.
func silent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsMethodNotSupported(err)
}

// pages reads the objects of a kind page by page: whole, or their metadata.
func (g gatherer) pages(ctx context.Context, r client.APIResource, namespace string, whole bool, each func(map[string]any)) error {
	q := client.Request{Path: Collection(r, namespace), Query: url.Values{"limit": {strconv.Itoa(pageSize)}}}
	if !whole {
		q.Accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	}
	for {
		var page struct {
			Metadata struct{ Continue string }
			Items    []map[string]any
		}
		if err := g.get(ctx, q, &page); err != nil {
			return err
		}
		for _, o := range page.Items {
			each(o)
		}
		if page.Metadata.Continue == "" {
			return nil
		}
		q.Query.Set("continue", page.Metadata.Continue)
	}
}
