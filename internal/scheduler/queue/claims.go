package queue

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/framework"
)

// index adds a gated or unschedulable pod to the index of pods by their ResourceClaims. A pod whose claims have no names
// yet counts as indexed, so that it is tried when they get them.
func (q *Queue) index(w *QueuedPodInfo) {
	for _, m := range w.members() {
		q.index(m)
	}
	if len(w.PodInfo.Pod.Spec.ResourceClaims) == 0 {
		return
	}
	w.indexed = w.PodInfo
	for _, name := range w.indexed.ResourceClaims {
		key := types.NamespacedName{Namespace: w.indexed.Pod.Namespace, Name: name}
		if q.byClaim[key] == nil {
			q.byClaim[key] = map[*QueuedPodInfo]struct{}{}
		}
		q.byClaim[key][w] = struct{}{}
	}
}

func (q *Queue) unindex(w *QueuedPodInfo) {
	for _, m := range w.members() {
		q.unindex(m)
	}
	if w.indexed == nil {
		return
	}
	for _, name := range w.indexed.ResourceClaims {
		key := types.NamespacedName{Namespace: w.indexed.Pod.Namespace, Name: name}
		if delete(q.byClaim[key], w); len(q.byClaim[key]) == 0 {
			delete(q.byClaim, key)
		}
	}
	w.indexed = nil
}

// awake tries a gated or unschedulable pod again.
func (q *Queue) awake(w *QueuedPodInfo, event string, now time.Time) {
	if w.heap == &q.unschedulable {
		q.requeue(w, event, now)
	} else if w.heap == nil {
		q.activate(w, event)
	}
}

// Retry tries an unschedulable pod again, because a write that was to help it has failed.
func (q *Queue) Retry(uid types.UID, now time.Time) {
	if w := q.pods[uid]; w != nil && w.entity().heap == &q.unschedulable {
		q.requeue(w.entity(), attemptFailed, now)
	}
}

// claimChanged moves the pods that use the claim of an event.
func (q *Queue) claimChanged(e *framework.ClusterEvent, now time.Time) {
	o := e.Claim
	if o == nil {
		o = e.OldClaim
	}
	users := q.byClaim[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}]
	for _, w := range slices.Collect(maps.Keys(users)) {
		if w = w.entity(); w.heap == nil || q.hints(w, e) {
			q.awake(w, e.Kind.Label(), now)
		}
	}
	// A claim for extended resources is not in the pod's spec.
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		if w := q.pods[ref.UID]; w != nil && w.entity().heap == &q.unschedulable && q.hints(w.entity(), e) {
			q.awake(w.entity(), e.Kind.Label(), now)
		}
	}
}

// hints reports whether a filter that rejected a pod has a QueueingHint for an event.
func (q *Queue) hints(w *QueuedPodInfo, e *framework.ClusterEvent) bool {
	for _, f := range w.rejectedBy {
		if f != nil && f.EventsToRegister().Has(e.Kind) && w.hinted(f, e) {
			return true
		}
	}
	return false
}
