// Package ephemeralvolume creates the claims of ephemeral volumes: for each volume of a pod with a claim template,
// a PersistentVolumeClaim named after pod and volume, with the pod as owner, so that it is garbage collected with
// the pod.
//
// A claim of that name that does not belong to the pod is left alone, and the pod gets a FailedBinding event. A
// claim that is deleted before the pod is created again.
package ephemeralvolume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// byClaim is the index of pods by the claims that they own.
const byClaim = "ephemeral-claim"

type maker struct {
	claimsAPI client.Resource[*corev1.PersistentVolumeClaim]
	claims    *informer.Informer[*corev1.PersistentVolumeClaim]
	pods      *informer.Informer[*corev1.Pod]
	rec       *client.Recorder
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	m := &maker{
		claimsAPI: client.For[*corev1.PersistentVolumeClaim](env.Client),
		claims:    informer.For[*corev1.PersistentVolumeClaim](env.Informers),
		pods:      informer.For[*corev1.Pod](env.Informers),
		rec:       env.Recorder.From("ephemeral_volume", ""),
	}
	m.pods.Index(byClaim, claimsOf)
	loop := controller.New("ephemeralvolume", m.reconcile, controller.Options{})
	// A pod's volumes never change.
	controller.WatchFunc(loop, m.pods, informer.Handler[*corev1.Pod]{Add: func(p *corev1.Pod, _ bool) {
		if p.DeletionTimestamp == nil && len(claimsOf(p)) > 0 {
			loop.Enqueue(controller.KeyOf(p))
		}
	}})
	controller.WatchFunc(loop, m.claims, informer.Handler[*corev1.PersistentVolumeClaim]{Delete: func(c *corev1.PersistentVolumeClaim) {
		for _, p := range m.pods.Store().ByIndex(byClaim, c.Namespace+"/"+c.Name) {
			loop.Enqueue(controller.KeyOf(p))
		}
	}})
	return loop
}

func (m *maker) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	pod, ok := m.pods.Store().Get(k.Namespace, k.Name)
	if !ok || pod.DeletionTimestamp != nil {
		return controller.Result{}, nil
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		if err := m.provide(ctx, pod, v); err != nil {
			m.rec.Event(pod, corev1.EventTypeWarning, "FailedBinding", "ephemeral volume %s: %v", v.Name, err)
			return controller.Result{}, fmt.Errorf("ephemeral volume %s: %w", v.Name, err)
		}
	}
	return controller.Result{}, nil
}

// provide creates the claim of a volume unless it exists.
func (m *maker) provide(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) error {
	name := claimName(pod, v)
	if c, ok := m.claims.Store().Get(pod.Namespace, name); ok {
		if !metav1.IsControlledBy(c, pod) {
			return fmt.Errorf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", c.Namespace, c.Name, pod.Namespace, pod.Name)
		}
		return nil
	}
	template := v.Ephemeral.VolumeClaimTemplate
	_, err := m.claimsAPI.Namespace(pod.Namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: name, Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}},
		},
		Spec: template.Spec,
	})
	if err != nil {
		return fmt.Errorf("create PVC %s: %w", name, err)
	}
	return nil
}

func claimName(pod *corev1.Pod, v *corev1.Volume) string { return pod.Name + "-" + v.Name }

// claimsOf returns the claims that a pod owns, with their namespace.
func claimsOf(pod *corev1.Pod) (keys []string) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil {
			keys = append(keys, pod.Namespace+"/"+claimName(pod, v))
		}
	}
	return keys
}
