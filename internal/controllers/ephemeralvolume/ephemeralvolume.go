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
)

// byClaim is the index of pods by the claims that they own.
const byClaim = "ephemeral-claim"

type maker struct {
	claims controller.Objects[*corev1.PersistentVolumeClaim]
	pods   controller.Objects[*corev1.Pod]
	rec    *client.Recorder
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	m := &maker{
		claims: controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		pods:   controller.ObjectsOf[*corev1.Pod](env),
		rec:    env.Recorder.From("ephemeral_volume", ""),
	}
	m.pods.Index(byClaim, claimsOf)
	return controller.New("ephemeralvolume", controller.ByObject(m.pods, m.reconcile), controller.Options{}).Watch(
		controller.Watches(m.pods, withClaims).On(controller.Added), // a pod's volumes never change
		controller.Watches(m.claims, m.podsOf).On(controller.Deleted),
	)
}

// withClaims returns the pod's key if the pod needs claims.
func withClaims(p *corev1.Pod) []controller.Key {
	if p.DeletionTimestamp != nil || len(claimsOf(p)) == 0 {
		return nil
	}
	return controller.Self(p)
}

// podsOf returns the pods that own a claim.
func (m *maker) podsOf(c *corev1.PersistentVolumeClaim) (keys []controller.Key) {
	for _, p := range m.pods.Store().ByIndex(byClaim, c.Namespace+"/"+c.Name) {
		keys = append(keys, controller.KeyOf(p))
	}
	return keys
}

func (m *maker) reconcile(ctx context.Context, pod *corev1.Pod) (controller.Result, error) {
	if pod.DeletionTimestamp != nil {
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
	_, err := m.claims.API.Namespace(pod.Namespace).Create(ctx, &corev1.PersistentVolumeClaim{
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
