package disruption

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
)

// expectation is the number of pods that a budget requires.
type expectation struct {
	pods      int32 // the expected number of pods
	healthy   int32 // the number that must be healthy
	unmanaged bool  // some pod has no controller, but the budget requires one
}

func (b *budgets) expect(ctx context.Context, pdb *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (e expectation, err error) {
	least := pdb.Spec.MinAvailable
	if pdb.Spec.MaxUnavailable == nil && least == nil {
		return e, nil
	}
	if pdb.Spec.MaxUnavailable == nil && least.Type == intstr.Int {
		return expectation{pods: int32(len(pods)), healthy: least.IntVal}, nil
	}
	if e.pods, e.unmanaged, err = b.scale(ctx, pdb.Namespace, pods); err != nil {
		return e, err
	}
	of := func(v *intstr.IntOrString) (int32, error) {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(e.pods), true)
		return int32(n), err
	}
	if pdb.Spec.MaxUnavailable == nil {
		e.healthy, err = of(least)
		return e, err
	}
	most, err := of(pdb.Spec.MaxUnavailable)
	e.healthy = max(0, e.pods-most)
	return e, err
}

// scale sums up the desired replicas of the pods' controllers.
func (b *budgets) scale(ctx context.Context, namespace string, pods []*corev1.Pod) (total int32, unmanaged bool, err error) {
	seen := make(map[types.UID]bool)    // owners of pods
	counted := make(map[types.UID]bool) // the controllers counted: a Deployment stands for its sets
	for _, p := range pods {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil {
			unmanaged = true
			continue
		}
		if seen[ref.UID] {
			continue
		}
		seen[ref.UID] = true
		uid, n, err := b.replicas(ctx, namespace, ref)
		if err != nil {
			return 0, unmanaged, err
		}
		if uid == "" {
			return 0, unmanaged, fmt.Errorf("found no controllers for pod %q", p.Name)
		}
		if !counted[uid] {
			counted[uid] = true
			total += n
		}
	}
	return total, unmanaged, nil
}

// replicas returns the size of a pod's controller, from an informer if there is one for its kind, else from the
// scale subresource. An empty UID means that the controller is gone.
func (b *budgets) replicas(ctx context.Context, namespace string, ref *metav1.OwnerReference) (types.UID, int32, error) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "", 0, err
	}
	if gv.Group == "apps" && ref.Kind == "ReplicaSet" {
		rs, ok := b.sets.Store().Get(namespace, ref.Name)
		if !ok || rs.UID != ref.UID {
			return "", 0, nil
		}
		if above := metav1.GetControllerOfNoCopy(rs); above != nil && above.Kind == "Deployment" {
			d, ok := b.deployments.Store().Get(namespace, above.Name)
			if !ok || d.UID != above.UID {
				return "", 0, nil
			}
			return d.UID, ptr.Deref(d.Spec.Replicas, 1), nil
		}
		return rs.UID, ptr.Deref(rs.Spec.Replicas, 1), nil
	}
	m, err := b.env.Client.Mapping(ctx, gv.WithKind(ref.Kind))
	if err != nil {
		return "", 0, err
	}
	s, err := client.Dynamic(b.env.Client, m.GVR, m.Namespaced).Namespace(namespace).Scale(ctx, ref.Name)
	switch {
	case apierrors.IsNotFound(err) && !namesObject(err):
		return "", 0, fmt.Errorf("%s does not implement the scale subresource", m.GVR.GroupResource())
	case apierrors.IsNotFound(err):
		return "", 0, nil
	case err != nil:
		return "", 0, err
	case s.UID != ref.UID:
		return "", 0, nil
	}
	return s.UID, s.Spec.Replicas, nil
}

// namesObject distinguishes a missing object from a resource that is not served.
func namesObject(err error) bool {
	var s apierrors.APIStatus
	return errors.As(err, &s) && s.Status().Details != nil && s.Status().Details.Name != ""
}
