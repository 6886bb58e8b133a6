package why

// pod adds the node of a pod, its service account, and the objects that its volumes and containers use.
func (r *relations) pod() {
	s := r.s
	r.named(RunsOn, "nodes", "", s.text("spec", "nodeName"))
	for _, v := range s.list("spec", "volumes") {
		r.volume(&Subject{Object: v})
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range s.list("spec", list) {
			c := Subject{Object: container}
			for _, from := range c.list("envFrom") {
				r.source(Reads, "configmaps", from["configMapRef"])
				r.source(Reads, "secrets", from["secretRef"])
			}
			for _, variable := range c.list("env") {
				from, _ := variable["valueFrom"].(map[string]any)
				r.source(Reads, "configmaps", from["configMapKeyRef"])
				r.source(Reads, "secrets", from["secretKeyRef"])
			}
		}
	}
	for _, ref := range s.list("spec", "imagePullSecrets") {
		r.optional(Reads, "secrets", str(ref["name"]))
	}
	r.named(RunsAs, "serviceaccounts", s.Namespace, s.text("spec", "serviceAccountName"))
}

func (r *relations) volume(v *Subject) {
	if _, ephemeral := v.at("ephemeral").(map[string]any); ephemeral {
		r.named(Mounts, "persistentvolumeclaims", r.s.Namespace, r.s.Name+"-"+v.text("name"))
	}
	r.named(Mounts, "persistentvolumeclaims", r.s.Namespace, v.text("persistentVolumeClaim", "claimName"))
	r.source(Mounts, "configmaps", v.at("configMap"))
	r.source(Mounts, "secrets", v.at("secret"))
	for _, p := range v.list("projected", "sources") {
		r.source(Mounts, "configmaps", p["configMap"])
		r.source(Mounts, "secrets", p["secret"])
	}
}

// source adds the ConfigMap or Secret of a reference, which may be marked as optional.
func (r *relations) source(verb, resource string, v any) {
	ref, _ := v.(map[string]any)
	name := str(ref["name"])
	if name == "" {
		name = str(ref["secretName"])
	}
	if ref["optional"] == true {
		r.optional(verb, resource, name)
	} else {
		r.named(verb, resource, r.s.Namespace, name)
	}
}
