package subresource

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/watchcache"
)

var pdbResource = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}

// askBudget takes one disruption from the pod's budget, if the pod needs one.
func (p *Pods) askBudget(c *write.Operation, pod *corev1.Pod, opts *metav1.DeleteOptions) error {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return nil
	}
	if pod.DeletionTimestamp != nil {
		return nil
	}
	budgets, err := p.budgets(c.Context, pod)
	if err != nil || len(budgets) == 0 {
		return err
	}
	if len(budgets) > 1 {
		return apistatus.New(http.StatusInternalServerError, "",
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	pdb := budgets[0]
	if !isReady(pod) && unhealthyMayGo(pdb) {
		if opts.Preconditions == nil {
			opts.Preconditions = &metav1.Preconditions{}
		}
		if opts.Preconditions.ResourceVersion == nil {
			opts.Preconditions.ResourceVersion = &pod.ResourceVersion
		}
		return nil
	}
	sub := c.For(c.Registry.Stored(pdbResource), pdb.Name, "status")
	_, _, err = sub.Modify(pdb.Name, write.Change{Trusted: true, Next: func(now *watchcache.Object, old resource.Object) (resource.Object, error) {
		b := old.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		if err := takeDisruption(b, pod.Name); err != nil {
			return nil, err
		}
		sub.RecordInternal(b, old, now)
		return b, nil
	}})
	return err
}

func (p *Pods) budgets(ctx context.Context, pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	list, err := p.Objects.List(ctx, pdbResource, pod.Namespace)
	if apierrors.IsNotFound(err) {
		return nil, nil // no such kind is served
	}
	if err != nil {
		return nil, err
	}
	var found []*policyv1.PodDisruptionBudget
	for _, obj := range list {
		pdb := obj.(*policyv1.PodDisruptionBudget)
		sel, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err == nil && sel.Matches(labels.Set(pod.Labels)) {
			found = append(found, pdb)
		}
	}
	return found, nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// unhealthyMayGo reports whether a pod that is not ready may be evicted without a disruption.
func unhealthyMayGo(pdb *policyv1.PodDisruptionBudget) bool {
	if p := pdb.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return true
	}
	return pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy && pdb.Status.DesiredHealthy > 0
}

// takeDisruption records a disruption in the budget, or returns the error for one that is not allowed.
func takeDisruption(b *policyv1.PodDisruptionBudget, pod string) error {
	st := &b.Status
	switch {
	case st.ObservedGeneration < b.Generation:
		return tooManyDisruptions(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name))
	case st.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}, b.Name, errors.New("pdb disruptions allowed is negative"))
	case st.DisruptionsAllowed == 0 && st.CurrentHealthy <= st.DesiredHealthy:
		return tooManyDisruptions(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, st.DesiredHealthy, st.CurrentHealthy))
	case st.DisruptionsAllowed == 0:
		return tooManyDisruptions(0, fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name))
	}
	st.DisruptionsAllowed--
	if st.DisruptedPods == nil {
		st.DisruptedPods = map[string]metav1.Time{}
	}
	st.DisruptedPods[pod] = metav1.Now().Rfc3339Copy()
	allowed := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason,
		ObservedGeneration: st.ObservedGeneration,
	}
	if st.DisruptionsAllowed == 0 {
		allowed.Status, allowed.Reason = metav1.ConditionFalse, policyv1.InsufficientPodsReason
	}
	meta.SetStatusCondition(&st.Conditions, allowed)
	return nil
}

func tooManyDisruptions(retry int, why string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retry)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes,
		metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}
