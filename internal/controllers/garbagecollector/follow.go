//lint:file-ignore SA1019 Endpoints are deprecated, and served

package garbagecollector

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// typed are resources that other controllers watch completely: their informer is shared, instead of a second one
// for the metadata.
var typed = map[schema.GroupVersionResource]func(*collector, client.APIResource) *monitor{
	corev1.SchemeGroupVersion.WithResource("pods"):                   followTyped[*corev1.Pod],
	corev1.SchemeGroupVersion.WithResource("services"):               followTyped[*corev1.Service],
	corev1.SchemeGroupVersion.WithResource("endpoints"):              followTyped[*corev1.Endpoints],
	corev1.SchemeGroupVersion.WithResource("nodes"):                  followTyped[*corev1.Node],
	corev1.SchemeGroupVersion.WithResource("namespaces"):             followTyped[*corev1.Namespace],
	corev1.SchemeGroupVersion.WithResource("serviceaccounts"):        followTyped[*corev1.ServiceAccount],
	corev1.SchemeGroupVersion.WithResource("replicationcontrollers"): followTyped[*corev1.ReplicationController],
	appsv1.SchemeGroupVersion.WithResource("replicasets"):            followTyped[*appsv1.ReplicaSet],
	appsv1.SchemeGroupVersion.WithResource("deployments"):            followTyped[*appsv1.Deployment],
	batchv1.SchemeGroupVersion.WithResource("jobs"):                  followTyped[*batchv1.Job],
	discoveryv1.SchemeGroupVersion.WithResource("endpointslices"):    followTyped[*discoveryv1.EndpointSlice],
}

// follow starts watching a resource.
func (c *collector) follow(r client.APIResource) *monitor {
	if f := typed[r.GVR]; f != nil {
		return f(c, r)
	}
	m := followOn(c, r, informer.Metadata(c.env.Informers, r.GVR, r.Namespaced))
	unregister := m.stop
	m.stop = func() {
		unregister()
		c.env.Informers.Remove(r.GVR)
	}
	return m
}

func followTyped[T client.Object](c *collector, r client.APIResource) *monitor {
	return followOn(c, r, informer.For[T](c.env.Informers))
}

// followOn feeds the graph from an informer.
func followOn[T client.Object](c *collector, r client.APIResource, i *informer.Informer[T]) *monitor {
	apiVersion, kind := r.Kind.ToAPIVersionAndKind()
	id := func(o T) identity {
		return identity{apiVersion, kind, o.GetNamespace(), o.GetName(), o.GetUID()}
	}
	ringing := tellsOfServed(r)
	reg := i.Handle(informer.Handler[T]{
		Add: func(o T, _ bool) {
			c.carryOut(c.graph.observe(id(o), o.GetOwnerReferences(), life{}, lifeOf(o)), c.because(o))
			if ringing { // initially too: the kind may have appeared after discovery
				c.watch.ring()
			}
		},
		Update: func(old, o T) {
			if ringing {
				c.watch.ring()
			}
			if unchanged(old, o) {
				return
			}
			c.carryOut(c.graph.observe(id(o), o.GetOwnerReferences(), lifeOf(old), lifeOf(o)), c.because(o))
		},
		Delete: func(o T) {
			c.carryOut(c.graph.vanish(id(o)), c.because(o))
			if ringing {
				c.watch.ring()
			}
		},
	})
	return &monitor{
		synced: reg.Synced(),
		stop:   reg.Remove,
		get: func(namespace, name string) (metav1.Object, bool) {
			o, ok := i.Store().Get(namespace, name)
			return o, ok
		},
	}
}

// unchanged reports whether an update leaves everything in the graph unchanged, as nearly all updates do.
func unchanged(old, o metav1.Object) bool {
	return (old.GetDeletionTimestamp() == nil) == (o.GetDeletionTimestamp() == nil) &&
		slices.Equal(old.GetFinalizers(), o.GetFinalizers()) &&
		equality.Semantic.DeepEqual(old.GetOwnerReferences(), o.GetOwnerReferences())
}
