package controlplane_test

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
)

// kinds are the kinds whose objects are counted. Each can make an object that marks the end
// of a history.
var kinds = map[string]interface {
	made(*site) int
	gone(*site)
}{
	"Pod": kind[*corev1.Pod](func(m metav1.ObjectMeta) *corev1.Pod { return &corev1.Pod{ObjectMeta: m, Spec: webPods.Spec} }),
	"ReplicaSet": kind[*appsv1.ReplicaSet](func(m metav1.ObjectMeta) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: m, Spec: appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](0), Selector: selector, Template: webPods}}
	}),
	"ControllerRevision": kind[*appsv1.ControllerRevision](func(m metav1.ObjectMeta) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: m, Revision: 1, Data: runtime.RawExtension{Raw: []byte("{}")}}
	}),
	"PersistentVolumeClaim": kind[*corev1.PersistentVolumeClaim](func(m metav1.ObjectMeta) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: m, Spec: *aGigabyte.DeepCopy()}
	}),
	"Job": kind[*batchv1.Job](func(m metav1.ObjectMeta) *batchv1.Job {
		spec := jobOf(1, batchv1.NonIndexedCompletion)
		spec.Suspend = ptr.To(true)
		return &batchv1.Job{ObjectMeta: m, Spec: spec}
	}),
	"EndpointSlice": kind[*discoveryv1.EndpointSlice](func(m metav1.ObjectMeta) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{ObjectMeta: m, AddressType: discoveryv1.AddressTypeIPv4}
	}),
}

// kind makes an object of its kind.
type kind[T client.Object] func(metav1.ObjectMeta) T

// made counts the objects that were created since the namespace was created, by a watch from
// there.
func (k kind[T]) made(s *site) (n int) {
	s.Helper()
	for _, e := range k.life(s) {
		if e.Type == watch.Added {
			n++
		}
	}
	return n
}

// life returns all events of the objects since the namespace was created.
func (k kind[T]) life(s *site) (events []client.Event[T]) {
	s.Helper()
	s.ends++
	end := create(s, k(named(fmt.Sprint(theEnd, s.ends)))).GetName()
	defer remove[T](end)(s)
	w, err := on[T](s).Watch(s.Context(), metav1.ListOptions{ResourceVersion: s.began})
	if err != nil {
		s.Fatal(err)
	}
	defer w.Stop()
	for {
		e, err := w.Next(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		if e.Object.GetName() == end {
			return events
		}
		if e.Type != watch.Bookmark && !isEnd(e.Object) {
			events = append(events, e)
		}
	}
}

const theEnd = "the-end-"

func isEnd(o client.Object) bool { return strings.HasPrefix(o.GetName(), theEnd) }

// gone waits until the namespace has no objects of the kind, besides end marks.
func (k kind[T]) gone(s *site) {
	s.Helper()
	waittest.For(s, on[T](s), "nothing left", "", func(have map[string]T) bool {
		for _, o := range have {
			if !isEnd(o) {
				return false
			}
		}
		return true
	})
}
