package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Mirror asks for a Secret with the data of a ConfigMap of its namespace.
type Mirror struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              MirrorSpec `json:"spec"`
}

// MirrorSpec has the names of the two. The Secret's is by default that of the ConfigMap, and cannot be changed.
type MirrorSpec struct {
	ConfigMap string `json:"configMap"`
	Secret    string `json:"secret,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (m *Mirror) DeepCopyObject() runtime.Object {
	c := *m
	m.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

var kind = schema.GroupVersionKind{Group: "examples.fairlead.dev", Version: "v1", Kind: "Mirror"}

// scheme knows the built-in types and this one.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(kind, &Mirror{})
	return s, client.AddToScheme(s)
}
