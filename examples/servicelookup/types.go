package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// PodServices lists the Services that reach the Pod of the same name. A type of your own
// needs no generated client; only DeepCopyObject.
type PodServices struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              PodServicesSpec `json:"spec"`
}

// PodServicesSpec has the list.
type PodServicesSpec struct {
	Services []string `json:"services"` // by name, in order
}

// DeepCopyObject implements runtime.Object.
func (p *PodServices) DeepCopyObject() runtime.Object {
	c := *p
	p.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Services = slices.Clone(p.Spec.Services)
	return &c
}

var kind = schema.GroupVersionKind{Group: "examples.fairlead.dev", Version: "v1", Kind: "PodServices"}

// scheme knows the built-in types and this one.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(kind, &PodServices{})
	return s, client.AddToScheme(s)
}
