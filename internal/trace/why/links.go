package why

import "strings"

// Link describes objects that an object owns or depends on.
type Link struct {
	// Resource is the name of a kind, in any of the forms that kubectl accepts.
	Resource  string
	Namespace string
	// Name names one object. If it is "", the objects are those of the namespace with the labels of Selector, or, if that is
	// "" too, those whose controller is the object.
	Name, Selector string
	// Stateless reports that the object matters only if it does not exist, Unready that it matters only if it is not Ready, too.
	Stateless, Unready bool
}

// Ignores reports whether an object of the link, which exists, does not matter.
func (l Link) Ignores(s *Subject) bool {
	return l.Stateless || l.Unready && str(s.condition("Ready")["status"]) == "True"
}

// owned maps a kind to the resource of the objects that it owns and waits for.
var owned = map[string]string{
	"Deployment": "replicasets.apps", "ReplicaSet": "pods", "StatefulSet": "pods", "DaemonSet": "pods",
	"ReplicationController": "pods", "Job": "pods", "CronJob": "jobs.batch",
}

// serviceOf is the label of an EndpointSlice that names its Service.
const serviceOf = "kubernetes.io/service-name"

// Links returns the links of the object: those of its relations for which it waits, and the evidence of its state.
func (s *Subject) Links() (all []Link) {
	if r := owned[s.Kind]; r != "" {
		return []Link{{Resource: r, Namespace: s.Namespace}}
	}
	switch s.Kind {
	case "Node":
		all = append(all, Link{Resource: "leases.coordination.k8s.io", Namespace: "kube-node-lease", Name: s.Name})
	case "Service":
		all = append(all, Link{Resource: "endpointslices.discovery.k8s.io", Namespace: s.Namespace, Selector: serviceOf + "=" + s.Name})
	}
	for _, r := range s.Relations() {
		if !s.waitsFor(r) {
			continue
		}
		l := Link{Resource: r.Resource, Namespace: r.Namespace, Name: r.Name, Stateless: r.Verb == OfClass, Unready: r.Verb == RunsOn}
		if r.Selector != nil {
			l.Selector = r.Selector.String()
		}
		all = append(all, l)
	}
	return all
}

// waitsFor reports whether the object may wait for the others of a relation.
func (s *Subject) waitsFor(r Relation) bool {
	switch phase := s.text("status", "phase"); r.Verb {
	case RunsOn:
		return phase == "Pending" || phase == "Running"
	case Mounts:
		return r.Resource == "persistentvolumeclaims"
	case OfClass:
		return s.Kind == "Ingress" || s.Kind == "PersistentVolumeClaim" && phase != "Bound"
	case Selects:
		return s.Kind == "Service"
	case RoutesTo, Scales, Calls:
		return s.Kind != "HTTPRoute"
	}
	return false
}

// routes are the names of the Services that an Ingress routes to, each once.
func (s *Subject) routes() (names []string) {
	for _, r := range s.Relations() {
		if r.Verb == RoutesTo {
			names = append(names, r.Name)
		}
	}
	return names
}

// kindOf is the name of a kind by its API version: "deployment.apps".
func kindOf(apiVersion, kind string) string {
	kind = strings.ToLower(kind)
	if group, _, grouped := strings.Cut(apiVersion, "/"); grouped {
		kind += "." + group
	}
	return kind
}
