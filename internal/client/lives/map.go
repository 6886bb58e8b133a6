package lives

import (
	"cmp"
	"context"
	"slices"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/why"
)

// MapPath is the path at which a Fairlead server serves a Map, in JSON, to users with the right to get the path. Its parameters
// are namespace, for the map of a namespace; and resource, name and steps, for the map around an object.
const MapPath = "/debug/map"

// MaxSteps is the largest number of steps from the object of a map.
const MaxSteps = 6

// Map is objects and their relations, as far as the user may read them.
type Map struct {
	// Objects are the objects. The object that the map is around is the first one.
	Objects []MapObject `json:"objects"`
	// Edges are the relations.
	Edges []MapEdge `json:"edges"`
	// Events are those about the object that the map is around, oldest first.
	Events []why.Note `json:"events,omitempty"`
	// Forbidden are the resources that the user may not read, so that their objects are missing.
	Forbidden []string `json:"forbidden,omitempty"`
}

// MapObject is an object of a Map with its state.
type MapObject struct {
	Kind      string `json:"kind"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	why.Status
}

// MapEdge is a relation between two objects, by their places in the list: the object From does the verb to the object To.
type MapEdge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Verb string `json:"verb"`
}

// NamespaceMap reads the objects of a namespace and their relations. Objects of other namespaces, and those without one, are in
// it if they have a relation to an object of the namespace.
func NamespaceMap(ctx context.Context, c *client.Client, namespace string) (Map, error) {
	if err := segments(namespace); err != nil {
		return Map{}, err
	}
	m, err := newMapper(ctx, c, namespace)
	if err != nil {
		return Map{}, err
	}
	if err := m.read(ctx); err != nil {
		return Map{}, err
	}
	return m.result(m.nodes), nil
}

// MapAround reads the objects that are at most so many steps away from an object. kind is any name that Resource accepts. It is
// an error if the user may not get the object. Steps do not lead on through a node, a class, or a default of a namespace,
// unless it is the object.
func MapAround(ctx context.Context, c *client.Client, kind, namespace, name string, steps int) (Map, error) {
	if err := segments(namespace, name); err != nil {
		return Map{}, err
	}
	m, err := newMapper(ctx, c, namespace)
	if err != nil {
		return Map{}, err
	}
	r, err := Find(m.kinds, kind)
	if err != nil {
		return Map{}, err
	}
	if !r.Namespaced {
		m.namespace = "" // objects of all namespaces can be related to it
	}
	object := map[string]any{}
	if err := m.get(ctx, client.Request{Path: Collection(r, m.namespace) + "/" + name}, &object); err != nil {
		return Map{}, err
	}
	center := m.add(subjectOf(r, m.namespace, name, object))
	if err := m.read(ctx); err != nil {
		return Map{}, err
	}
	all := m.result(m.around(center, steps))
	all.Events, err = m.events(ctx, center.Namespace, metadata(object, "uid"))
	return all, err
}

// around returns the nodes at most so many steps away from a node, the nearest first.
func (m *mapper) around(center *mapNode, steps int) []*mapNode {
	near := map[*mapNode][]*mapNode{}
	for _, e := range m.edges {
		near[e.from] = append(near[e.from], e.to)
		near[e.to] = append(near[e.to], e.from)
	}
	found, seen := []*mapNode{center}, map[*mapNode]bool{center: true}
	for last := found; steps > 0 && len(last) > 0; steps-- {
		var next []*mapNode
		for _, n := range last {
			if n != center && n.common() {
				continue
			}
			for _, other := range near[n] {
				if !seen[other] {
					seen[other] = true
					next = append(next, other)
				}
			}
		}
		found, last = append(found, next...), next
	}
	return found
}

// common reports whether unrelated objects share the node, so that it says nothing of their relation.
func (n *mapNode) common() bool {
	switch n.Resource {
	case "nodes", "storageclasses.storage.k8s.io", "ingressclasses.networking.k8s.io":
		return true
	case "serviceaccounts":
		return n.Name == "default"
	case "configmaps":
		return n.Name == "kube-root-ca.crt"
	}
	return false
}

// result is the map of some nodes, with the edges between them.
func (m *mapper) result(nodes []*mapNode) Map {
	all := Map{Objects: make([]MapObject, 0, len(nodes)), Edges: []MapEdge{}, Forbidden: slices.Sorted(slices.Values(m.forbidden))}
	at := map[*mapNode]int{}
	for _, n := range nodes {
		at[n] = len(all.Objects)
		all.Objects = append(all.Objects, MapObject{n.Kind, n.Resource, n.Namespace, n.Name, n.Status()})
	}
	for _, e := range m.edges {
		from, ok := at[e.from]
		to, too := at[e.to]
		if ok && too {
			all.Edges = append(all.Edges, MapEdge{from, to, e.verb})
		}
	}
	slices.SortFunc(all.Edges, func(a, b MapEdge) int {
		return cmp.Or(a.From-b.From, a.To-b.To, cmp.Compare(a.Verb, b.Verb))
	})
	all.Edges = slices.Compact(all.Edges)
	return all
}
