package devicetainteviction

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/condition"
)

// period is the shortest time between two writes of the status of a rule whose spec stays the same.
const period = 10 * time.Second

// reportLater enqueues rules whose pods are evicted.
func (e *evictor) reportLater(ctx context.Context, rules []*resourcev1.DeviceTaintRule) {
	for _, r := range rules {
		e.ruleLoop.EnqueueFromAfter(ctx, controller.KeyOf(r), period)
	}
}

// syncRule writes the status of a rule, and enqueues the pods that a new spec concerns.
func (e *evictor) syncRule(ctx context.Context, k controller.Key) (controller.Result, error) {
	r, ok := e.rules.Store().Get("", k.Name)
	if !ok {
		e.wake(ctx, nil)
		return controller.Result{}, nil
	}
	known := e.memory.of(r).reported >= r.Generation
	if known && r.Spec.Taint.Effect != resourcev1.DeviceTaintEffectNoExecute {
		return controller.Result{}, nil
	}
	result, err := e.report(ctx, r)
	if !known {
		e.memory.report(r)
		e.wake(ctx, r)
	}
	return result, client.IgnoreNotFound(err)
}

// report writes the condition EvictionInProgress of a rule, if it has changed and its time has come.
func (e *evictor) report(ctx context.Context, r *resourcev1.DeviceTaintRule) (controller.Result, error) {
	old := condition.Find(r.Status.Conditions, func(c *metav1.Condition) bool { return c.Type == resourcev1.DeviceTaintConditionEvictionInProgress })
	if old == nil {
		old = &metav1.Condition{}
	} else if left := period - time.Since(old.LastTransitionTime.Time); left > 0 && old.ObservedGeneration == r.Generation {
		return controller.Result{RequeueAfter: left}, nil
	}
	now := e.progress(r)
	now.LastTransitionTime = old.LastTransitionTime
	if now == *old {
		return controller.Result{}, nil
	}
	now.LastTransitionTime = metav1.Now()
	_, err := e.rules.API.Patch(ctx, r.Name, client.ApplyPatch(map[string]any{
		"apiVersion": resourcev1.SchemeGroupVersion.String(), "kind": "DeviceTaintRule", "metadata": map[string]any{"name": r.Name, "uid": r.UID},
		"status": map[string]any{"conditions": []metav1.Condition{now}},
	}).On("status"), metav1.PatchOptions{FieldManager: name, Force: ptr.To(true)})
	return controller.Result{}, err
}

// progress describes the evictions by a rule.
func (e *evictor) progress(r *resourcev1.DeviceTaintRule) metav1.Condition {
	c := metav1.Condition{Type: resourcev1.DeviceTaintConditionEvictionInProgress, Status: metav1.ConditionFalse, ObservedGeneration: r.Generation}
	evicted := e.memory.of(r).evicted
	switch r.Spec.Taint.Effect {
	case resourcev1.DeviceTaintEffectNoExecute:
		switch pods, namespaces := e.pending(r); {
		case pods > 0:
			c.Status, c.Reason = metav1.ConditionTrue, "PodsPendingEviction"
			c.Message = numbered(pods, "pod needs", "pods need") + " to be evicted in " + numbered(namespaces, "namespace", "different namespaces") + "."
		case evicted > 0:
			c.Reason = "Completed"
		default:
			c.Reason = "NotStarted"
		}
	case resourcev1.DeviceTaintEffectNone:
		c.Reason, c.Message = "NoEffect", e.preview(r)
	default:
		c.Reason, c.Message = "OtherEffect", "Eviction only happens for the NoExecute effect."
	}
	if evicted > 0 {
		if c.Message != "" {
			c.Message += " "
		}
		c.Message += numbered(int(evicted), "pod", "pods") + " evicted since starting the controller."
	}
	return c
}

// preview describes what a rule would do if its effect was NoExecute.
func (e *evictor) preview(r *resourcev1.DeviceTaintRule) string {
	r = r.DeepCopy()
	r.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNoExecute
	pods, namespaces := e.pending(r)
	return fmt.Sprintf("%s selected. %s selected. %s be evicted in %s if the effect was NoExecute. "+
		"This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.",
		numbered(e.published(r), "published device", "published devices"), numbered(e.allocated(r), "allocated device", "allocated devices"),
		numbered(pods, "pod would", "pods would"), numbered(namespaces, "namespace", "different namespaces"))
}

// pending counts the pods that a rule of effect NoExecute has yet to evict, and their namespaces.
func (e *evictor) pending(r *resourcev1.DeviceTaintRule) (pods, namespaces int) {
	seen, in := map[controller.Key]bool{}, map[string]bool{}
	for _, c := range e.selected(r) {
		for _, k := range e.users(c) {
			p, ok := e.pods.Store().Get(k.Namespace, k.Name)
			if !ok || seen[k] || p.Spec.NodeName == "" || p.DeletionTimestamp != nil || !e.isEvictedBy(p, r) {
				continue
			}
			seen[k], in[k.Namespace] = true, true
		}
	}
	return len(seen), len(in)
}

func (e *evictor) isEvictedBy(p *corev1.Pod, r *resourcev1.DeviceTaintRule) bool {
	by := e.evictionOf(p, []*resourcev1.DeviceTaintRule{r})
	return by != nil && len(by.rules) > 0
}

// published counts the devices in slices that a rule taints.
func (e *evictor) published(r *resourcev1.DeviceTaintRule) (n int) {
	highest := map[string]int64{}
	for _, s := range e.slices.Store().List("") {
		k := pool(s.Spec.Driver, s.Spec.Pool.Name)
		highest[k] = max(highest[k], s.Spec.Pool.Generation)
	}
	for _, s := range e.slices.Store().List("") {
		if s.Spec.Pool.Generation < highest[pool(s.Spec.Driver, s.Spec.Pool.Name)] {
			continue
		}
		for i := range s.Spec.Devices {
			if selects(r, s.Spec.Driver, s.Spec.Pool.Name, s.Spec.Devices[i].Name) {
				n++
			}
		}
	}
	return n
}

// allocated counts the devices of claims that a rule taints.
func (e *evictor) allocated(r *resourcev1.DeviceTaintRule) (n int) {
	for _, c := range e.selected(r) {
		for _, d := range results(c) {
			if selects(r, d.Driver, d.Pool, d.Device) {
				n++
			}
		}
	}
	return n
}

func numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
