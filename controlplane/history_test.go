package controlplane_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/controller/podcontrol/waittest"
)

// history reads what happened in the namespace again, from its beginning: how many objects
// were made of each kind.
func (r *rollout) history() map[string]int {
	r.t.Helper()
	const end = "the-end"
	if _, err := r.pods.Create(r.t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: end}, Spec: webPods.Spec}); err != nil {
		r.t.Fatal(err)
	}
	none := int32(0)
	if _, err := r.sets.Create(r.t.Context(), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: end},
		Spec: appsv1.ReplicaSetSpec{Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: app}, Template: webPods}}); err != nil {
		r.t.Fatal(err)
	}
	made := map[string]int{}
	replay(r, r.sets, end, func(e watch.EventType) {
		if e == watch.Added {
			made["ReplicaSet"]++
		}
	})
	replay(r, r.pods, end, func(e watch.EventType) {
		if e == watch.Added {
			made["Pod"]++
		}
	})
	return made
}

// replay tells each event since the namespace began, until the object end.
func replay[T client.Object](r *rollout, from client.Resource[T], end string, tell func(watch.EventType)) {
	r.t.Helper()
	w, err := from.Watch(r.t.Context(), metav1.ListOptions{ResourceVersion: r.began})
	if err != nil {
		r.t.Fatal(err)
	}
	defer w.Stop()
	for {
		e, err := w.Next(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Object.GetName() == end {
			return
		}
		if e.Type != watch.Bookmark {
			tell(e.Type)
		}
	}
}

// leaveNothing deletes the Deployment, and waits until all that was its own is gone.
func (r *rollout) leaveNothing() {
	r.t.Helper()
	if err := r.deploy.Delete(context.WithoutCancel(r.t.Context()), "web"); err != nil {
		r.t.Fatal(err)
	}
	waittest.For(r.t, r.sets, "no ReplicaSet left", "", func(have map[string]*appsv1.ReplicaSet) bool {
		return len(have) <= 1 && (len(have) == 0 || have["the-end"] != nil)
	})
	waittest.For(r.t, r.pods, "no pod left", "app=web", func(have map[string]*corev1.Pod) bool { return len(have) == 0 })
}
