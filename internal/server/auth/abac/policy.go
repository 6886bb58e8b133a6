package abac

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/auth"
)

// Policy allows requests. A value of "*" stands for all.
type Policy struct {
	// User and Group are those of the requests' users. If both are set, both must match.
	User  string `json:"user,omitempty"`
	Group string `json:"group,omitempty"`
	// Readonly allows the verbs get, list and watch only.
	Readonly bool `json:"readonly,omitempty"`
	// APIGroup, Resource and Namespace are those of resources. The namespace "" is that of resources without one.
	APIGroup  string `json:"apiGroup,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// NonResourcePath is a path of other requests, or the beginning of paths if it ends with "*".
	NonResourcePath string `json:"nonResourcePath,omitempty"`
}

// versioned is a policy of v1beta1.
type versioned struct {
	metav1.TypeMeta `json:""`
	Spec            Policy `json:"spec"`
}

// unversioned is a policy of the older form, whose version is v0.
type unversioned struct {
	metav1.TypeMeta `json:""`
	User            string `json:"user,omitempty"`
	Group           string `json:"group,omitempty"`
	Readonly        bool   `json:"readonly,omitempty"`
	Resource        string `json:"resource,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (p *versioned) DeepCopyObject() runtime.Object { c := *p; return &c }

// DeepCopyObject implements runtime.Object.
func (p *unversioned) DeepCopyObject() runtime.Object { c := *p; return &c }

const (
	group = "abac.authorization.kubernetes.io"
	kind  = "Policy"
)

// newDecoder returns a decoder of both forms.
func newDecoder() runtime.Decoder {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: kind}, &versioned{})
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v0", Kind: kind}, &unversioned{})
	return serializer.NewCodecFactory(s).UniversalDeserializer()
}

// policy returns the policy with its meaning for all users made explicit: these are the authenticated ones.
func (p *versioned) policy() Policy {
	spec := p.Spec
	if spec.User == "*" || spec.Group == "*" {
		spec.User, spec.Group = "", auth.AllAuthenticated
	}
	return spec
}

// policy returns the policy as one of v1beta1 that allows the same.
func (p *unversioned) policy() Policy {
	spec := Policy{User: p.User, Group: p.Group, Readonly: p.Readonly, APIGroup: "*", Resource: p.Resource, Namespace: p.Namespace}
	if p.User == "" && p.Group == "" || p.User == "*" || p.Group == "*" {
		spec.User, spec.Group = "", auth.AllAuthenticated
	}
	if p.Namespace == "" && p.Resource == "" {
		spec.NonResourcePath = "*"
	}
	if p.Namespace == "" {
		spec.Namespace = "*"
	}
	if p.Resource == "" {
		spec.Resource = "*"
	}
	return spec
}
