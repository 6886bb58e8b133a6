package main

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// lookup keeps a PodServices for every Pod that Services reach.
type lookup struct {
	manager *controller.Manager
	write   client.Resource[*PodServices]
	pods    *informer.Store[*corev1.Pod]
	slices  *informer.Store[*discoveryv1.EndpointSlice]
	results *informer.Store[*PodServices]
}

func newLookup(config *rest.Config) (*lookup, error) {
	types, err := scheme()
	if err != nil {
		return nil, err
	}
	m, err := controller.NewManager(config, "servicelookup", controller.ManagerOptions{Client: client.Options{Scheme: types}})
	if err != nil {
		return nil, err
	}
	pods, results := informer.For[*corev1.Pod](m.Informers), informer.For[*PodServices](m.Informers)
	endpoints := informer.For[*discoveryv1.EndpointSlice](m.Informers)
	endpoints.Index("pod", func(s *discoveryv1.EndpointSlice) []string {
		var names []string
		for _, k := range podsOf(s) {
			names = append(names, k.String())
		}
		return names
	})
	l := &lookup{manager: m, write: client.For[*PodServices](m.Client),
		pods: pods.Store(), slices: endpoints.Store(), results: results.Store()}
	loop := m.New("servicelookup", l.reconcile, controller.Options{})
	controller.Watch(loop, pods, controller.Self)
	controller.Watch(loop, endpoints, podsOf) // those it had before a change, and has after
	controller.Watch(loop, results, controller.Self)
	return l, nil
}

// podsOf names the Pods that a slice leads to.
func podsOf(s *discoveryv1.EndpointSlice) []controller.Key {
	var keys []controller.Key
	for _, e := range s.Endpoints {
		if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
			keys = append(keys, controller.Key{Namespace: s.Namespace, Name: e.TargetRef.Name})
		}
	}
	return keys
}

// reconcile writes the Services of one Pod, if they have changed. The garbage collector
// deletes the result of a deleted Pod, by its owner reference.
func (l *lookup) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	pod, ok := l.pods.Get(k.Namespace, k.Name)
	if !ok || pod.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	services := []string{}
	for _, s := range l.slices.ByIndex("pod", k.String()) {
		services = append(services, s.Labels[discoveryv1.LabelServiceName])
	}
	slices.Sort(services)
	services = slices.Compact(services) // a service may have several slices
	known, ok := l.results.Get(k.Namespace, k.Name)
	if ok && slices.Equal(known.Spec.Services, services) || !ok && len(services) == 0 {
		return controller.Result{}, nil
	}
	result := &PodServices{Spec: PodServicesSpec{Services: services}}
	result.SetGroupVersionKind(kind)
	result.Name = k.Name
	result.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	_, err := l.write.Namespace(k.Namespace).Patch(ctx, k.Name, client.ApplyPatch(result),
		metav1.PatchOptions{FieldManager: "servicelookup", Force: ptr.To(true)})
	return controller.Result{}, err
}
