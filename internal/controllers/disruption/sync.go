package disruption

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/controllers/podcontrol"
)

// sync computes the budget's status and writes it if it has changed. again is when a granted eviction must be
// checked; zero for never.
func (b *budgets) sync(ctx context.Context, pdb *policyv1.PodDisruptionBudget) (again time.Duration, err error) {
	pods, err := b.selected(pdb)
	if err != nil {
		b.rec.Event(pdb, corev1.EventTypeWarning, "NoPods", "Failed to get pods: %v", err)
		return 0, err
	}
	if len(pods) == 0 {
		b.rec.Event(pdb, corev1.EventTypeNormal, "NoPods", "No matching pods found")
	}
	e, err := b.expect(ctx, pdb, pods)
	if err != nil {
		b.rec.Event(pdb, corev1.EventTypeWarning, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: %v", err)
		return 0, err
	}
	if e.unmanaged {
		b.rec.Event(pdb, corev1.EventTypeWarning, "UnmanagedPods",
			"Pods selected by this PodDisruptionBudget (selector: %v) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", pdb.Spec.Selector)
	}
	now := time.Now()
	granted, again := b.granted(pdb, pods, now)
	changed := pdb.DeepCopy()
	s := &changed.Status
	s.ObservedGeneration = pdb.Generation
	s.ExpectedPods, s.DesiredHealthy, s.DisruptedPods = e.pods, e.healthy, granted
	s.CurrentHealthy = healthy(pods, granted)
	s.DisruptionsAllowed = 0
	if e.pods > 0 {
		s.DisruptionsAllowed = max(0, s.CurrentHealthy-s.DesiredHealthy)
	}
	c := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
		Reason: policyv1.InsufficientPodsReason, ObservedGeneration: s.ObservedGeneration,
	}
	if s.DisruptionsAllowed > 0 {
		c.Status, c.Reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	meta.SetStatusCondition(&s.Conditions, c)
	if apiequality.Semantic.DeepEqual(&pdb.Status, s) {
		return again, nil
	}
	_, err = b.all.API.Namespace(pdb.Namespace).UpdateStatus(ctx, changed)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return again, err
}

func (b *budgets) selected(pdb *policyv1.PodDisruptionBudget) (pods []*corev1.Pod, err error) {
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		return nil, err
	}
	for _, p := range b.pods.Store().List(pdb.Namespace) {
		if selector.Matches(labels.Set(p.Labels)) {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

// granted keeps the evictions whose pod has not been seen terminating.
func (b *budgets) granted(pdb *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time) (map[string]metav1.Time, time.Duration) {
	var kept map[string]metav1.Time
	var again time.Duration
	for _, p := range pods {
		at, ok := pdb.Status.DisruptedPods[p.Name]
		if !ok || p.DeletionTimestamp != nil {
			continue
		}
		left := at.Add(deletionTimeout).Sub(now)
		if left < 0 {
			b.rec.Event(p, corev1.EventTypeWarning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", pdb.Namespace, pdb.Name)
			continue
		}
		if kept == nil {
			kept = make(map[string]metav1.Time)
		}
		kept[p.Name] = at
		if again == 0 || left < again {
			again = max(left, time.Millisecond)
		}
	}
	return kept, again
}

// healthy counts the ready pods that are not about to be evicted.
func healthy(pods []*corev1.Pod, granted map[string]metav1.Time) (n int32) {
	for _, p := range pods {
		if _, going := granted[p.Name]; p.DeletionTimestamp == nil && !going && podcontrol.IsReady(p) {
			n++
		}
	}
	return n
}
