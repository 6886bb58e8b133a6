//lint:file-ignore SA1019 Endpoints are deprecated, and served

package bootstrap

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/server/auth/rbac"
)

// Reconcile returns the desired state of have, an existing object, given want, the object of the same kind and name
// from Objects. It returns nil if have needs no change. have is not modified.
func Reconcile(have, want runtime.Object) runtime.Object {
	out := have.DeepCopyObject()
	switch w := want.(type) {
	case *rbacv1.ClusterRole:
		h := out.(*rbacv1.ClusterRole)
		if !restore(&h.ObjectMeta, w.ObjectMeta) {
			return nil
		}
		if w.AggregationRule == nil {
			h.Rules = lacking(h.Rules, w.Rules)
		} else if h.AggregationRule == nil {
			h.AggregationRule = w.AggregationRule
		}
	case *rbacv1.Role:
		h := out.(*rbacv1.Role)
		if !restore(&h.ObjectMeta, w.ObjectMeta) {
			return nil
		}
		h.Rules = lacking(h.Rules, w.Rules)
	case *rbacv1.ClusterRoleBinding:
		h := out.(*rbacv1.ClusterRoleBinding)
		if !restore(&h.ObjectMeta, w.ObjectMeta) || h.RoleRef != w.RoleRef {
			return nil
		}
		h.Subjects = union(h.Subjects, w.Subjects)
	case *rbacv1.RoleBinding:
		h := out.(*rbacv1.RoleBinding)
		if !restore(&h.ObjectMeta, w.ObjectMeta) || h.RoleRef != w.RoleRef {
			return nil
		}
		h.Subjects = union(h.Subjects, w.Subjects)
	case *flowcontrolv1.FlowSchema:
		reconcileSchema(out.(*flowcontrolv1.FlowSchema), w)
	case *flowcontrolv1.PriorityLevelConfiguration:
		reconcileLevel(out.(*flowcontrolv1.PriorityLevelConfiguration), w)
	case *networkingv1.ServiceCIDR: // a single-stack cluster may become a dual-stack one
		h := out.(*networkingv1.ServiceCIDR)
		if len(h.Spec.CIDRs) == 1 && h.Spec.CIDRs[0] == w.Spec.CIDRs[0] {
			h.Spec.CIDRs = w.Spec.CIDRs
		}
	case *corev1.Service:
		h := out.(*corev1.Service)
		h.Spec.Type, h.Spec.Ports = w.Spec.Type, w.Spec.Ports
	case *corev1.Endpoints:
		out.(*corev1.Endpoints).Subsets = w.Subsets
	case *discoveryv1.EndpointSlice:
		h := out.(*discoveryv1.EndpointSlice)
		h.Endpoints, h.Ports = w.Endpoints, w.Ports
	case *apiregistrationv1.APIService:
		if h := out.(*apiregistrationv1.APIService); apiregistration.Managed(h) {
			h.Spec = w.Spec
		}
	case *corev1.ConfigMap:
		if w.Name == tracking {
			return nil
		}
		h := out.(*corev1.ConfigMap)
		if h.Data == nil {
			h.Data = map[string]string{}
		}
		for k, v := range w.Data {
			if w.Name == TrustName {
				v = mergeTrust(k, h.Data[k], v)
			}
			h.Data[k] = v
		}
	}
	if equality.Semantic.DeepEqual(have, out) {
		return nil
	}
	return out
}

// restore adds missing labels and annotations. It returns false if the object must not be changed.
func restore(have *metav1.ObjectMeta, want metav1.ObjectMeta) bool {
	if have.Annotations[autoupdate] == "false" {
		return false
	}
	have.Labels = missing(have.Labels, want.Labels)
	have.Annotations = missing(have.Annotations, want.Annotations)
	return true
}

func missing(have, want map[string]string) map[string]string {
	for k, v := range want {
		if _, ok := have[k]; ok {
			continue
		}
		if have == nil {
			have = map[string]string{}
		}
		have[k] = v
	}
	return have
}

// lacking appends the rules of want that have does not cover.
func lacking(have, want []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return append(have, rbac.Lacking(have, want)...)
}

func union(have, want []rbacv1.Subject) []rbacv1.Subject {
	for _, s := range want {
		if !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}
