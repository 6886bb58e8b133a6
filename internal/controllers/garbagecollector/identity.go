package garbagecollector

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// identity is the location and UID of an object, as observed or as claimed by a dependent.
type identity struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID
}

func (i identity) String() string {
	return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", i.apiVersion, i.kind, i.namespace, i.name, i.uid)
}

func (i identity) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(i.apiVersion, i.kind)
}

// claimed returns the owner that a reference in an object of the namespace claims.
func claimed(ref metav1.OwnerReference, namespace string) identity {
	return identity{ref.APIVersion, ref.Kind, namespace, ref.Name, ref.UID}
}

// meets reports whether the reference names the identity, apart from the namespace.
func (i identity) meets(ref metav1.OwnerReference) bool {
	return i.uid == ref.UID && i.name == ref.Name && i.kind == ref.Kind && i.apiVersion == ref.APIVersion
}

func (i identity) compare(j identity) int {
	return cmp.Or(cmp.Compare(i.kind, j.kind), cmp.Compare(i.apiVersion, j.apiVersion),
		cmp.Compare(i.namespace, j.namespace), cmp.Compare(i.name, j.name), cmp.Compare(i.uid, j.uid))
}
