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

// Links returns the links of the object.
func (s *Subject) Links() (all []Link) {
	named := func(resource, namespace, name string) {
		if name != "" {
			all = append(all, Link{Resource: resource, Namespace: namespace, Name: name})
		}
	}
	class := func(resource, name string) {
		if name != "" {
			all = append(all, Link{Resource: resource, Name: name, Stateless: true})
		}
	}
	if r := owned[s.Kind]; r != "" {
		return []Link{{Resource: r, Namespace: s.Namespace}}
	}
	switch s.Kind {
	case "Pod":
		if phase := s.text("status", "phase"); s.text("spec", "nodeName") != "" && (phase == "Pending" || phase == "Running") {
			all = append(all, Link{Resource: "nodes", Name: s.text("spec", "nodeName"), Unready: true})
		}
		for _, claim := range s.claims() {
			named("persistentvolumeclaims", s.Namespace, claim)
		}
	case "PersistentVolumeClaim":
		if s.text("status", "phase") != "Bound" {
			class("storageclasses.storage.k8s.io", s.text("spec", "storageClassName"))
		}
	case "Node":
		named("leases.coordination.k8s.io", "kube-node-lease", s.Name)
	case "Service":
		all = append(all, Link{Resource: "endpointslices.discovery.k8s.io", Namespace: s.Namespace, Selector: serviceOf + "=" + s.Name})
		if selector, _ := s.at("spec", "selector").(map[string]any); len(selector) > 0 {
			all = append(all, Link{Resource: "pods", Namespace: s.Namespace, Selector: Selector(selector)})
		}
	case "Ingress":
		class("ingressclasses.networking.k8s.io", s.text("spec", "ingressClassName"))
		for _, service := range s.ingressServices() {
			named("services", s.Namespace, service)
		}
	case "HorizontalPodAutoscaler":
		kind := strings.ToLower(s.text("spec", "scaleTargetRef", "kind"))
		if group, _, grouped := strings.Cut(s.text("spec", "scaleTargetRef", "apiVersion"), "/"); grouped {
			kind += "." + group
		}
		named(kind, s.Namespace, s.text("spec", "scaleTargetRef", "name"))
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		for _, w := range s.list("webhooks") {
			hook := Subject{Object: w}
			named("services", hook.text("clientConfig", "service", "namespace"), hook.text("clientConfig", "service", "name"))
		}
	case "APIService":
		named("services", s.text("spec", "service", "namespace"), s.text("spec", "service", "name"))
	case "CustomResourceDefinition":
		at := []string{"spec", "conversion", "webhook", "clientConfig", "service"}
		named("services", s.text(append(at, "namespace")...), s.text(append(at, "name")...))
	}
	return all
}

// claims are the names of a pod's PersistentVolumeClaims.
func (s *Subject) claims() (names []string) {
	for _, v := range s.list("spec", "volumes") {
		claim, _ := v["persistentVolumeClaim"].(map[string]any)
		if name := str(claim["claimName"]); name != "" {
			names = append(names, name)
		} else if _, ephemeral := v["ephemeral"]; ephemeral {
			names = append(names, s.Name+"-"+str(v["name"]))
		}
	}
	return names
}

// ingressServices are the names of the Services that an Ingress routes to, each once.
func (s *Subject) ingressServices() (names []string) {
	seen := map[string]bool{"": true}
	add := func(backend map[string]any) {
		service, _ := backend["service"].(map[string]any)
		if name := str(service["name"]); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	backend, _ := s.at("spec", "defaultBackend").(map[string]any)
	add(backend)
	for _, rule := range s.list("spec", "rules") {
		r := Subject{Object: rule}
		for _, p := range r.list("http", "paths") {
			backend, _ := p["backend"].(map[string]any)
			add(backend)
		}
	}
	return names
}
