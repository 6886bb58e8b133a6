package why

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Verbs of relations.
const (
	Owns     = "owns"
	Selects  = "selects"
	Mounts   = "mounts"
	Reads    = "reads" // by environment variables, or for credentials
	RunsOn   = "runs on"
	RunsAs   = "runs as"
	RoutesTo = "routes to"
	Scales   = "scales"
	Binds    = "binds"    // a claim its volume, a role binding its role
	BindsTo  = "binds to" // a role binding its subject
	OfClass  = "of class"
	Calls    = "calls" // the API server, by a configuration
)

// Relation is a relation of an object to others, by one of its fields.
type Relation struct {
	Verb string
	// Passive reports that the other is the subject of the verb, as the owner of the object is.
	Passive bool
	// Resource is the name of a kind, in any of the forms that kubectl accepts.
	Resource, Namespace string
	// Name names the other object, and UID identifies it, unless that is "". If Name is "", the others are those of the
	// namespace with the labels of Selector.
	Name, UID string
	Selector  labels.Selector
	// Optional reports that the object works without the other.
	Optional bool
}

// Relations returns the relations that the object's own fields have, each once.
func (s *Subject) Relations() []Relation {
	r := relations{s: s, seen: map[[4]string]bool{}}
	r.owners()
	switch s.Resource {
	case "pods":
		r.pod()
	case "services":
		if selector, _ := s.at("spec", "selector").(map[string]any); len(selector) > 0 {
			r.selects("pods", labels.SelectorFromSet(texts(selector)))
		}
	case "poddisruptionbudgets.policy":
		r.selectsBy(s.at("spec", "selector"))
	case "networkpolicies.networking.k8s.io":
		r.selectsBy(s.at("spec", "podSelector"))
	case "ingresses.networking.k8s.io":
		r.ingress()
	case "httproutes.gateway.networking.k8s.io":
		r.route()
	case "gateways.gateway.networking.k8s.io":
		r.named(OfClass, "gatewayclasses.gateway.networking.k8s.io", "", s.text("spec", "gatewayClassName"))
	case "persistentvolumeclaims":
		r.named(Binds, "persistentvolumes", "", s.text("spec", "volumeName"))
		r.named(OfClass, "storageclasses.storage.k8s.io", "", s.text("spec", "storageClassName"))
	case "persistentvolumes":
		if claim := s.text("spec", "claimRef", "name"); claim != "" {
			r.add(Relation{Verb: Binds, Passive: true, Resource: "persistentvolumeclaims", Namespace: s.text("spec", "claimRef", "namespace"), Name: claim, UID: s.text("spec", "claimRef", "uid")})
		}
		r.named(OfClass, "storageclasses.storage.k8s.io", "", s.text("spec", "storageClassName"))
	case "horizontalpodautoscalers.autoscaling":
		target := s.text("spec", "scaleTargetRef", "name")
		r.named(Scales, kindOf(s.text("spec", "scaleTargetRef", "apiVersion"), s.text("spec", "scaleTargetRef", "kind")), s.Namespace, target)
	case "rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io":
		r.binding()
	case "serviceaccounts":
		for _, list := range []string{"secrets", "imagePullSecrets"} {
			for _, ref := range s.list(list) {
				r.optional(Reads, "secrets", str(ref["name"]))
			}
		}
	case "validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io":
		for _, w := range s.list("webhooks") {
			r.calls(&Subject{Object: w}, "clientConfig", "service")
		}
	case "apiservices.apiregistration.k8s.io":
		r.calls(s, "spec", "service")
	case "customresourcedefinitions.apiextensions.k8s.io":
		r.calls(s, "spec", "conversion", "webhook", "clientConfig", "service")
	}
	return r.all
}

// relations collects the relations of a subject.
type relations struct {
	s    *Subject
	all  []Relation
	seen map[[4]string]bool // by verb, resource, namespace and name
}

func (r *relations) add(one Relation) {
	key := [4]string{one.Verb, one.Resource, one.Namespace, one.Name}
	if one.Name != "" && r.seen[key] {
		return
	}
	r.seen[key] = true
	r.all = append(r.all, one)
}

// named adds a relation to one object, unless the name is "".
func (r *relations) named(verb, resource, namespace, name string) {
	if name != "" {
		r.add(Relation{Verb: verb, Resource: resource, Namespace: namespace, Name: name})
	}
}

// optional adds a relation to one object of the namespace that may be missing, unless the name is "".
func (r *relations) optional(verb, resource, name string) {
	if name != "" {
		r.add(Relation{Verb: verb, Resource: resource, Namespace: r.s.Namespace, Name: name, Optional: true})
	}
}

func (r *relations) selects(resource string, by labels.Selector) {
	r.add(Relation{Verb: Selects, Resource: resource, Namespace: r.s.Namespace, Selector: by})
}

// selectsBy adds the pods of a LabelSelector; without one no pods are selected.
func (r *relations) selectsBy(v any) {
	fields, _ := v.(map[string]any)
	if fields == nil {
		return
	}
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector) != nil {
		return
	}
	if by, err := metav1.LabelSelectorAsSelector(&selector); err == nil {
		r.selects("pods", by)
	}
}

func (r *relations) owners() {
	for _, ref := range r.s.list("metadata", "ownerReferences") {
		// An owner that is gone is the garbage collector's business.
		r.add(Relation{Verb: Owns, Passive: true, Resource: kindOf(str(ref["apiVersion"]), str(ref["kind"])), Namespace: r.s.Namespace, Name: str(ref["name"]), UID: str(ref["uid"]), Optional: true})
	}
}

// calls adds the Service of a client configuration.
func (r *relations) calls(s *Subject, path ...string) {
	service := Subject{}
	service.Object, _ = s.at(path...).(map[string]any)
	r.named(Calls, "services", service.text("namespace"), service.text("name"))
}

// ingress adds the class, the Services and the certificates of an Ingress.
func (r *relations) ingress() {
	s := r.s
	r.named(OfClass, "ingressclasses.networking.k8s.io", "", s.text("spec", "ingressClassName"))
	r.named(RoutesTo, "services", s.Namespace, s.text("spec", "defaultBackend", "service", "name"))
	for _, rule := range s.list("spec", "rules") {
		for _, path := range (&Subject{Object: rule}).list("http", "paths") {
			r.named(RoutesTo, "services", s.Namespace, (&Subject{Object: path}).text("backend", "service", "name"))
		}
	}
	for _, tls := range s.list("spec", "tls") {
		r.named(Reads, "secrets", s.Namespace, str(tls["secretName"]))
	}
}

// route adds the gateways and the Services of an HTTPRoute.
func (r *relations) route() {
	s := r.s
	in := func(ref map[string]any) string {
		if namespace := str(ref["namespace"]); namespace != "" {
			return namespace
		}
		return s.Namespace
	}
	is := func(ref map[string]any, group, kind string) bool {
		g, grouped := ref["group"]
		k, kinded := ref["kind"]
		return (!grouped || g == group) && (!kinded || k == kind)
	}
	for _, ref := range s.list("spec", "parentRefs") {
		if is(ref, "gateway.networking.k8s.io", "Gateway") {
			r.add(Relation{Verb: RoutesTo, Passive: true, Resource: "gateways.gateway.networking.k8s.io", Namespace: in(ref), Name: str(ref["name"])})
		}
	}
	for _, rule := range s.list("spec", "rules") {
		for _, ref := range (&Subject{Object: rule}).list("backendRefs") {
			if is(ref, "", "Service") {
				r.named(RoutesTo, "services", in(ref), str(ref["name"]))
			}
		}
	}
}

// binding adds the role of a role binding, and its subjects that are ServiceAccounts.
func (r *relations) binding() {
	s := r.s
	if role := s.text("roleRef", "name"); s.text("roleRef", "kind") == "ClusterRole" {
		r.named(Binds, "clusterroles.rbac.authorization.k8s.io", "", role)
	} else {
		r.named(Binds, "roles.rbac.authorization.k8s.io", s.Namespace, role)
	}
	for _, subject := range s.list("subjects") {
		if subject["kind"] == "ServiceAccount" {
			r.add(Relation{Verb: BindsTo, Resource: "serviceaccounts", Namespace: str(subject["namespace"]), Name: str(subject["name"]), Optional: true})
		}
	}
}

// texts are the fields of an object that are strings.
func texts(fields map[string]any) labels.Set {
	set := labels.Set{}
	for k, v := range fields {
		set[k] = str(v)
	}
	return set
}
