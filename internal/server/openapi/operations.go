package openapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// operation is one method of one path.
type operation struct {
	method, id, description, tag string
	action                       string // x-kubernetes-action
	gvk                          schema.GroupVersionKind
	parameters                   []parameter
	body                         string // definition; "" if there is no body
	bodyRequired                 bool
	bodyTypes                    []string
	answer                       string   // definition; "" for text
	group                        bool     // concerns groups, not objects
	custom                       bool     // without protobuf and strategic merge patches
	answerTypes                  []string // nil for those of objects
	codes                        []string
	stream                       bool
}

// path is a path with its operations.
type path struct {
	path       string
	parameters []parameter
	operations []operation
}

const (
	metaPrefix    = "io.k8s.apimachinery.pkg.apis.meta.v1."
	deleteOptions = metaPrefix + "DeleteOptions"
	statusName    = metaPrefix + "Status"
	patchName     = metaPrefix + "Patch"
)

var (
	answerTypes = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes = []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
	anyType     = []string{"*/*"}
	patchTypes  = []string{
		"application/json-patch+json", "application/merge-patch+json",
		"application/strategic-merge-patch+json", "application/apply-patch+yaml",
	}
	customTypes   = []string{"application/json", "application/yaml"}
	customStreams = []string{"application/json;stream=watch"}
	customPatches = []string{patchTypes[0], patchTypes[1], patchTypes[3]}
)

// paths returns the paths of one resource in one version. item and list are the definitions of its kinds.
func paths(r *resource.Resource, version, item, list string, sub func(resource.Subresource) (string, schema.GroupVersionKind)) []path {
	b := pathBuilder{r: r, gvk: r.GVK(version), item: item, list: list, tag: tag(r.Group, version), idGroup: idGroup(r.Group, version)}
	root := "/apis/" + r.Group + "/" + version
	if r.Group == "" {
		root = "/api/" + version
	}
	collection, scope := root+"/"+r.Plural, []parameter(nil)
	var out []path
	if r.Namespaced {
		if r.Has("list") {
			out = append(out, path{collection, append([]parameter{pretty}, listParameters...), []operation{b.listAll()}})
		}
		collection, scope = root+"/namespaces/{namespace}/"+r.Plural, []parameter{namespaceIn}
	}
	if ops := b.collection(); len(ops) > 0 {
		out = append(out, path{collection, append(scope, pretty), ops})
	}
	scope = append([]parameter{nameIn}, scope...)
	if ops := b.itemOps(r.Verbs, "", "", item, b.gvk); len(ops) > 0 {
		out = append(out, path{collection + "/{name}", append(scope, pretty), ops})
	}
	for _, s := range r.Subresources {
		name, gvk := sub(s)
		if s.Connects {
			out = append(out, b.connections(s, collection+"/{name}/"+s.Name, scope)...)
			continue
		}
		if name == "" {
			continue // its kind is unknown
		}
		if ops := b.itemOps(s.Verbs, s.Name, suffixOf(s.Name), name, gvk); len(ops) > 0 {
			out = append(out, path{collection + "/{name}/" + s.Name, append(scope, pretty), ops})
		}
	}
	if r.Custom == nil && r.Has("watch") {
		out = append(out, b.watches(root)...)
	}
	if r.Custom != nil {
		for _, p := range out {
			for i := range p.operations {
				p.operations[i].toCustom()
			}
		}
	}
	return out
}

// suffixOf returns the suffix for a subresource in operation IDs.
func suffixOf(subresource string) (suffix string) {
	for part := range strings.SplitSeq(subresource, "/") {
		suffix += strings.ToUpper(part[:1]) + part[1:]
	}
	return suffix
}

// toCustom removes the media types that custom objects do not support.
func (op *operation) toCustom() {
	op.custom = true
	if op.method == "patch" {
		op.bodyTypes = customPatches
	} else if op.body != "" {
		op.bodyTypes = customTypes
	}
}

// tag returns "apps_v1" for apps/v1; idGroup returns "AppsV1", the group without its k8s.io suffix.
func tag(group, version string) string {
	id := idGroup(group, "")
	return strings.ToLower(id[:1]) + id[1:] + "_" + version
}

func idGroup(group, version string) string {
	id := ""
	for part := range strings.SplitSeq(shortGroup(group), ".") {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	if version == "" {
		return id
	}
	return id + strings.ToUpper(version[:1]) + version[1:]
}

func shortGroup(group string) string {
	if group == "" {
		return "core"
	}
	return strings.TrimSuffix(group, ".k8s.io")
}

// pathBuilder makes the operations of one resource.
type pathBuilder struct {
	r            *resource.Resource
	gvk          schema.GroupVersionKind
	item, list   string
	tag, idGroup string
}

// id returns an operation ID such as "listAppsV1NamespacedDeployment".
func (b pathBuilder) id(verb, suffix string) string {
	scope := ""
	if b.r.Namespaced {
		scope = "Namespaced"
	}
	verb, collection, _ := strings.Cut(verb, "/")
	return verb + b.idGroup + collection + scope + b.r.Kind + suffix
}

func (b pathBuilder) listAll() operation {
	return operation{
		method: "get", id: "list" + b.idGroup + b.r.Kind + "ForAllNamespaces", tag: b.tag, action: "list", gvk: b.gvk,
		description: "list or watch objects of kind " + b.r.Kind, answer: b.list, codes: ok, stream: true,
	}
}

var (
	ok        = []string{"200"}
	okCreated = []string{"200", "201"}
	created   = []string{"200", "201", "202"}
	accepted  = []string{"200", "202"}
)

var codeText = map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}

func (b pathBuilder) collection() (ops []operation) {
	base := operation{tag: b.tag, gvk: b.gvk}
	if b.r.Has("list") {
		op := b.listAll()
		op.id, op.parameters = b.id("list", ""), listParameters
		ops = append(ops, op)
	}
	if b.r.Has("create") {
		op := base
		op.method, op.id, op.action, op.description = "post", b.id("create", ""), "post", "create a "+b.r.Kind
		op.parameters, op.answer, op.codes = writeParameters, b.item, created
		op.body, op.bodyRequired, op.bodyTypes = b.item, true, anyType
		ops = append(ops, op)
	}
	if b.r.Has("deletecollection") {
		op := base
		op.method, op.id, op.action, op.description = "delete", b.id("delete/Collection", ""), "deletecollection", "delete collection of "+b.r.Kind
		op.parameters, op.answer, op.codes = sweepParameters, statusName, ok
		op.body, op.bodyTypes = deleteOptions, anyType
		ops = append(ops, op)
	}
	return ops
}

// itemOps returns the operations on one object, or on one of its subresources.
func (b pathBuilder) itemOps(verbs []string, sub, suffix, kind string, gvk schema.GroupVersionKind) (ops []operation) {
	of := "the specified " + b.r.Kind
	if sub != "" {
		of = sub + " of " + of
	}
	for _, verb := range verbs {
		op := operation{tag: b.tag, gvk: gvk, answer: kind, codes: ok}
		switch verb {
		case "get":
			op.method, op.id, op.action, op.description = "get", b.id("read", suffix), "get", "read "+of
		case "update":
			op.method, op.id, op.action, op.description = "put", b.id("replace", suffix), "put", "replace "+of
			op.parameters, op.codes = writeParameters, okCreated
			op.body, op.bodyRequired, op.bodyTypes = kind, true, anyType
		case "patch":
			op.method, op.id, op.action, op.description = "patch", b.id("patch", suffix), "patch", "partially update "+of
			op.parameters, op.codes = patchParameters, okCreated
			op.body, op.bodyRequired, op.bodyTypes = patchName, true, patchTypes
		case "delete":
			op.method, op.id, op.action, op.description = "delete", b.id("delete", suffix), "delete", "delete "+of
			op.parameters, op.codes = deleteParameters, accepted
			if !b.describesDeleted() {
				op.answer = statusName
			}
			op.body, op.bodyTypes = deleteOptions, anyType
		case "create":
			if sub == "" {
				continue // it belongs to the collection
			}
			op.method, op.id, op.action, op.description = "post", b.id("create", suffix), "post", "create "+of
			op.parameters, op.codes = writeParameters, created
			op.body, op.bodyRequired, op.bodyTypes = kind, true, anyType
		default:
			continue
		}
		ops = append(ops, op)
	}
	return ops
}

// describesDeleted reports whether a delete is described as returning the object. Deletes of namespaces return it
// too, but kube-apiserver's document does not mention that.
func (b pathBuilder) describesDeleted() bool {
	return b.r.ShowsDeleted() && b.r.Plural != "namespaces"
}
