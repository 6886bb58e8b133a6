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
)

// lookup keeps a PodServices for every Pod that Services reach.
type lookup struct {
	manager *controller.Manager
	pods    controller.Objects[*corev1.Pod]
	slices  controller.Objects[*discoveryv1.EndpointSlice]
	results controller.Objects[*PodServices]
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
	l := &lookup{m, controller.ObjectsOf[*corev1.Pod](m.Env), controller.ObjectsOf[*discoveryv1.EndpointSlice](m.Env),
		controller.ObjectsOf[*PodServices](m.Env)}
	l.slices.Index("pod", func(s *discoveryv1.EndpointSlice) []string {
		var names []string
		for _, k := range podsOf(s) {
			names = append(names, k.String())
		}
		return names
	})
	m.New("servicelookup", controller.ByObject(l.pods, l.reconcile), controller.Options{}).Watch(
		controller.For(l.pods),
		controller.Watches(l.slices, podsOf), // those it had before a change, and has after
		controller.For(l.results),            // a result has the name of its Pod
	)
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
func (l *lookup) reconcile(ctx context.Context, pod *corev1.Pod) (controller.Result, error) {
	if pod.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	services := []string{}
	for _, s := range l.slices.Store().ByIndex("pod", controller.KeyOf(pod).String()) {
		services = append(services, s.Labels[discoveryv1.LabelServiceName])
	}
	slices.Sort(services)
	services = slices.Compact(services) // a service may have several slices
	known, ok := l.results.Store().Get(pod.Namespace, pod.Name)
	if ok && slices.Equal(known.Spec.Services, services) || !ok && len(services) == 0 {
		return controller.Result{}, nil
	}
	result := &PodServices{Spec: PodServicesSpec{Services: services}}
	result.SetGroupVersionKind(kind)
	result.Name = pod.Name
	result.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	_, err := l.results.API.Namespace(pod.Namespace).Patch(ctx, pod.Name, client.ApplyPatch(result),
		metav1.PatchOptions{FieldManager: "servicelookup", Force: ptr.To(true)})
	return controller.Result{}, err
}
