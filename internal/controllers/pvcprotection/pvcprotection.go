// Package pvcprotection protects claims that pods use: a claim has the finalizer kubernetes.io/pvc-protection, from
// its creation or from this controller, which is removed when the claim is terminating and no pod on a node refers
// to it. A pod without a node does not count: it will not be started with a terminating claim.
//
// A bound claim has the condition Unused (feature gate PersistentVolumeClaimUnusedSinceTime), whose transition time tells
// since when no pod that may run, with or without a node, refers to it.
//
// Before the finalizer is removed, or the claim is called unused, the server is asked for the pods of the namespace, because the informer may be
// behind.
package pvcprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

const (
	finalizer = "kubernetes.io/pvc-protection"
	byClaim   = "claim"
)

type protector struct {
	claims controller.Objects[*corev1.PersistentVolumeClaim]
	pods   controller.Objects[*corev1.Pod]
	// tracks reports whether claims get the condition Unused.
	tracks bool
}

// Options configure the controller.
type Options struct {
	// NoUnused leaves out the condition Unused, as without the feature gate PersistentVolumeClaimUnusedSinceTime.
	NoUnused bool
}

// New returns the controller.
func New(env controller.Env, o Options) controller.Runner {
	p := &protector{
		claims: controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		pods:   controller.ObjectsOf[*corev1.Pod](env),
		tracks: !o.NoUnused,
	}
	p.pods.Index(byClaim, func(pod *corev1.Pod) (keys []string) {
		for _, name := range claimsOf(pod) {
			keys = append(keys, pod.Namespace+"/"+name)
		}
		return keys
	})
	c := controller.New("pvcprotection", controller.ByObject(p.claims, p.reconcile), controller.Options{})
	if p.tracks {
		c.Watch(controller.Watches(p.pods, p.boundClaims).If(
			func(old, pod *corev1.Pod) bool { return terminated(pod) && !terminated(old) }))
	}
	return c.Watch(
		controller.For(p.claims),
		controller.Watches(p.pods, p.terminatingClaims).On(controller.Updated, controller.Deleted).If(
			func(old, pod *corev1.Pod) bool { return shutDown(pod) && !shutDown(old) }),
	)
}

// terminatingClaims returns the keys of the pod's claims that are terminating.
func (p *protector) terminatingClaims(pod *corev1.Pod) (keys []controller.Key) {
	for _, name := range claimsOf(pod) {
		if c, ok := p.claims.Store().Get(pod.Namespace, name); ok && c.DeletionTimestamp != nil {
			keys = append(keys, controller.KeyOf(c))
		}
	}
	return keys
}

func (p *protector) reconcile(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	if p.tracks && c.DeletionTimestamp == nil && c.Status.Phase == corev1.ClaimBound {
		updated, err := p.track(ctx, c)
		if err != nil {
			return controller.Result{}, err
		}
		c = updated
	}
	return controller.Protect(ctx, p.claims.API, c, finalizer, func() (bool, error) { return p.used(ctx, c) })
}

// used reports whether a pod uses the claim.
func (p *protector) used(ctx context.Context, c *corev1.PersistentVolumeClaim) (bool, error) {
	return p.usedBy(ctx, c, func(pod *corev1.Pod) bool { return uses(pod, c) })
}

// usedBy reports whether a pod uses the claim, in the sense of by.
func (p *protector) usedBy(ctx context.Context, c *corev1.PersistentVolumeClaim, by func(*corev1.Pod) bool) (bool, error) {
	if slices.ContainsFunc(p.pods.Store().ByIndex(byClaim, c.Namespace+"/"+c.Name), by) {
		return true, nil
	}
	list, err := p.pods.API.Namespace(c.Namespace).List(ctx)
	return slices.ContainsFunc(list.Items, by), err
}

// uses reports whether a pod uses the claim. A claim created for a pod is unused as soon as the kubelet has
// terminated that pod.
func uses(pod *corev1.Pod, c *corev1.PersistentVolumeClaim) bool {
	return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		switch {
		case v.PersistentVolumeClaim != nil:
			return v.PersistentVolumeClaim.ClaimName == c.Name
		case v.Ephemeral != nil:
			return !shutDown(pod) && ephemeralClaim(pod, &v) == c.Name && metav1.IsControlledBy(c, pod)
		}
		return false
	})
}

// shutDown reports whether all of the pod's containers have stopped, although the pod still exists.
func shutDown(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

func claimsOf(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, ephemeralClaim(pod, v))
		}
	}
	return names
}

func ephemeralClaim(pod *corev1.Pod, v *corev1.Volume) string { return pod.Name + "-" + v.Name }
