package openapi

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const watchEvent = metaPrefix + "WatchEvent"

// watches returns the old watch paths of a resource, from before watch was a parameter of lists.
func (b pathBuilder) watches(root string) []path {
	all := append([]parameter{pretty}, listParameters...)
	at := root + "/watch/" + b.r.Plural
	whole := path{at, all, []operation{b.watch("list", b.id("watch", "List"))}}
	if !b.r.Namespaced {
		one := path{at + "/{name}", append([]parameter{nameIn}, all...), []operation{b.watch("", b.id("watch", ""))}}
		return []path{whole, one}
	}
	whole.operations[0].id = "watch" + b.idGroup + b.r.Kind + "ListForAllNamespaces"
	at = root + "/watch/namespaces/{namespace}/" + b.r.Plural
	in := append([]parameter{namespaceIn}, all...)
	return []path{
		whole,
		{at, in, []operation{b.watch("list", b.id("watch", "List"))}},
		{at + "/{name}", append([]parameter{nameIn}, in...), []operation{b.watch("", b.id("watch", ""))}},
	}
}

func (b pathBuilder) watch(of, id string) operation {
	op := operation{
		method: "get", id: id, tag: b.tag, action: "watch" + of, gvk: b.gvk, answer: watchEvent, codes: ok, stream: true,
		description: "watch one object of kind " + b.r.Kind + "; a list with watch and a field selector does the same",
	}
	if of != "" {
		op.description = "watch objects of kind " + b.r.Kind + "; a list with watch does the same"
	}
	return op
}

// shared are the definitions that operations of many kinds refer to.
var shared = map[string]reflect.Type{
	deleteOptions: reflect.TypeFor[metav1.DeleteOptions](),
	statusName:    reflect.TypeFor[metav1.Status](),
	patchName:     reflect.TypeFor[metav1.Patch](),
	watchEvent:    reflect.TypeFor[metav1.WatchEvent](),
}

// defineShared adds those to which an operation refers.
func (b *builder) defineShared() {
	for _, p := range b.paths {
		for _, op := range p.operations {
			for _, name := range []string{op.body, op.answer} {
				if t := shared[name]; t != nil {
					b.defs.define(t)
				}
			}
		}
	}
}
