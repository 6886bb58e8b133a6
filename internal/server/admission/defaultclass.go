package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DefaultStorageClass sets the default storage class in claims without a class.
type DefaultStorageClass struct{ Lookup Lookup }

// Name implements Plugin.
func (DefaultStorageClass) Name() string { return "DefaultStorageClass" }

// Admit implements Mutator.
func (p DefaultStorageClass) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, core("persistentvolumeclaims")) {
		return nil
	}
	claim := r.Object.(*corev1.PersistentVolumeClaim)
	if _, old := claim.Annotations[corev1.BetaStorageClassAnnotation]; old || claim.Spec.StorageClassName != nil {
		return nil
	}
	name, err := defaultClass(ctx, p.Lookup, schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"},
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	if name != "" {
		claim.Spec.StorageClassName = &name
	}
	return err
}

// DefaultIngressClass sets the default ingress class in ingresses without a class.
type DefaultIngressClass struct{ Lookup Lookup }

// Name implements Plugin.
func (DefaultIngressClass) Name() string { return "DefaultIngressClass" }

// Admit implements Mutator.
func (p DefaultIngressClass) Admit(ctx context.Context, r *Request) error {
	if !r.on(Create, schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}) {
		return nil
	}
	in := r.Object.(*networkingv1.Ingress)
	if _, old := in.Annotations["kubernetes.io/ingress.class"]; old || in.Spec.IngressClassName != nil {
		return nil
	}
	name, err := defaultClass(ctx, p.Lookup, schema.GroupResource{Group: "networking.k8s.io", Resource: "ingressclasses"},
		networkingv1.AnnotationIsDefaultIngressClass)
	if name != "" {
		in.Spec.IngressClassName = &name
	}
	return err
}

// defaultClass returns the name of the object that one of the annotations marks as the default: the newest if there
// are several, or "".
func defaultClass(ctx context.Context, l Lookup, gr schema.GroupResource, annotations ...string) (string, error) {
	list, err := l.List(ctx, gr, "")
	if err != nil {
		return "", status(err)
	}
	var best metav1.Object
	for _, obj := range list {
		m, err := meta.Accessor(obj)
		if err != nil {
			return "", internal(err)
		}
		for _, a := range annotations {
			if m.GetAnnotations()[a] == "true" && (best == nil || newer(m, best)) {
				best = m
			}
		}
	}
	if best == nil {
		return "", nil
	}
	return best.GetName(), nil
}

func newer(a, b metav1.Object) bool {
	ta, tb := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if ta.Equal(&tb) {
		return a.GetName() < b.GetName()
	}
	return tb.Before(&ta)
}
