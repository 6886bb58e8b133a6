package devicetainteviction

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/podcontrol"
)

// syncPod evicts a pod, now or when its time has come.
func (e *evictor) syncPod(ctx context.Context, k controller.Key) (controller.Result, error) {
	p, ok := e.pods.Store().Get(k.Namespace, k.Name)
	if !ok || p.DeletionTimestamp != nil {
		e.memory.cancel(k)
		return controller.Result{}, nil
	}
	var due *eviction
	if p.Spec.NodeName != "" {
		due = e.evictionOf(p, e.evicting())
	}
	if due == nil {
		if e.memory.cancel(k) == p.UID {
			e.rec.Event(p, corev1.EventTypeNormal, "DeviceTaintManagerEviction", "Cancelling deletion")
		}
		return controller.Result{}, nil
	}
	for _, r := range due.rules {
		if e.memory.of(r).reported < r.Generation {
			return controller.Result{}, nil // the pod returns when the rule's status has been written
		}
	}
	e.memory.plan(p)
	e.reportLater(ctx, due.rules)
	if left := time.Until(due.due); left > 0 {
		return controller.Result{RequeueAfter: left}, nil
	}
	evicted, err := podcontrol.Disrupt(ctx, e.pods.API, p, "DeletionByDeviceTaintManager", func(*corev1.Pod) corev1.PodCondition {
		e.rec.Event(p, corev1.EventTypeNormal, "DeviceTaintManagerEviction", "Marking for deletion")
		return corev1.PodCondition{Message: "Device Taint manager: deleting due to NoExecute taint"}
	})
	if err != nil {
		return controller.Result{}, err
	}
	e.memory.cancel(k)
	if evicted {
		for _, r := range due.rules {
			e.memory.count(r)
		}
		e.reportLater(ctx, due.rules)
	}
	return controller.Result{}, nil
}

// evicting returns the rules that evict pods.
func (e *evictor) evicting() (rules []*resourcev1.DeviceTaintRule) {
	if e.ruleLoop == nil {
		return nil
	}
	for _, r := range e.rules.Store().List("") {
		if r.Spec.Taint.Effect == resourcev1.DeviceTaintEffectNoExecute {
			rules = append(rules, r)
		}
	}
	return rules
}
