package resourceclaim

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

// Indexes: of pods by their claims and templates, of claims by the pod that they were created for.
const (
	byClaim    = "resource claim"
	byTemplate = "resource claim template"
	byPod      = "pod of a resource claim"
)

type claimer struct {
	pods      controller.Objects[*corev1.Pod]
	claims    controller.Objects[*resourcev1.ResourceClaim]
	templates controller.Objects[*resourcev1.ResourceClaimTemplate]
	written   podcontrol.Written // claims, by their pod
	rec       *client.Recorder
	podLoop   *controller.Controller
	claimLoop *controller.Controller
}

// New returns the controller, with two queues: of pods that need claims, and of claims that pods may have left.
func New(env controller.Env) controller.Runner {
	c := &claimer{
		pods:      controller.ObjectsOf[*corev1.Pod](env),
		claims:    controller.ObjectsOf[*resourcev1.ResourceClaim](env),
		templates: controller.ObjectsOf[*resourcev1.ResourceClaimTemplate](env),
		rec:       env.Recorder.From("resource_claim", ""),
	}
	c.pods.Index(byClaim, claimsOf)
	c.pods.Index(byTemplate, templatesOf)
	c.claims.Index(byPod, func(o *resourcev1.ResourceClaim) []string {
		if k, ok := ownerOf(o); ok {
			return []string{k.String()}
		}
		return nil
	})
	c.podLoop = controller.New("resourceclaim-pods", controller.ByObject(c.pods, c.syncPod), controller.Options{})
	c.claimLoop = controller.New("resourceclaim", controller.ByObject(c.claims, c.syncClaim), controller.Options{})
	c.podLoop.Watch(
		controller.Handles(c.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { c.podSeen(p) },
			Update: func(_, p *corev1.Pod) { c.podSeen(p) },
			Delete: func(p *corev1.Pod) {
				c.written.Forget(controller.KeyOf(p))
				c.wakeClaims(p)
			},
		}),
		controller.Handles(c.claims, informer.Handler[*resourcev1.ResourceClaim]{
			Add:    func(o *resourcev1.ResourceClaim, _ bool) { c.wakePods(o) },
			Update: func(_, o *resourcev1.ResourceClaim) { c.wakePods(o) },
			Delete: func(o *resourcev1.ResourceClaim) {
				if k, ok := ownerOf(o); ok {
					c.written.Gone(k, o.UID)
				}
				c.wakePods(o)
			},
		}),
		controller.Watches(c.templates, c.podsOf),
	)
	c.claimLoop.Watch(controller.For(c.claims), controller.Reads(c.pods)) // podSeen enqueues too
	return controller.Runners{c.podLoop, c.claimLoop}
}

// podsOf returns the pods with a claim from the template.
func (c *claimer) podsOf(t *resourcev1.ResourceClaimTemplate) (keys []controller.Key) {
	for _, p := range c.pods.Store().ByIndex(byTemplate, controller.KeyOf(t).String()) {
		keys = append(keys, controller.KeyOf(p))
	}
	return keys
}

func (c *claimer) podSeen(p *corev1.Pod) {
	if len(p.Spec.ResourceClaims) > 0 && p.DeletionTimestamp == nil {
		c.podLoop.EnqueueFor(controller.KeyOf(p), p)
	}
	if done(p) {
		c.wakeClaims(p)
	}
}

// wakeClaims enqueues the claims of a pod that no longer needs them.
func (c *claimer) wakeClaims(p *corev1.Pod) {
	for i := range p.Spec.ResourceClaims {
		if name, _ := nameOf(p, &p.Spec.ResourceClaims[i]); name != "" {
			c.claimLoop.EnqueueFor(controller.Key{Namespace: p.Namespace, Name: name}, p)
		}
	}
	if extended := p.Status.ExtendedResourceClaimStatus; extended != nil {
		c.claimLoop.EnqueueFor(controller.Key{Namespace: p.Namespace, Name: extended.ResourceClaimName}, p)
	}
}

// wakePods enqueues the pods that use a claim, and the one that it was created for.
func (c *claimer) wakePods(o *resourcev1.ResourceClaim) {
	for _, p := range c.pods.Store().ByIndex(byClaim, controller.KeyOf(o).String()) {
		c.podLoop.EnqueueFor(controller.KeyOf(p), o)
	}
	if k, ok := ownerOf(o); ok {
		c.podLoop.EnqueueFor(k, o)
	}
}

// done reports whether a pod will not run any more: it has finished, or was deleted before it had a node.
func done(p *corev1.Pod) bool {
	return podcontrol.IsFinished(p) || p.DeletionTimestamp != nil && p.Spec.NodeName == ""
}

// nameOf returns the name of the claim for one of a pod's claim entries, or "". known is false for a
// template's claim that is not in the pod's status yet.
func nameOf(p *corev1.Pod, of *corev1.PodResourceClaim) (name string, known bool) {
	if of.ResourceClaimName != nil {
		return *of.ResourceClaimName, true
	}
	for _, s := range p.Status.ResourceClaimStatuses {
		if s.Name == of.Name {
			if s.ResourceClaimName == nil {
				return "", true
			}
			return *s.ResourceClaimName, true
		}
	}
	return "", false
}

// ownerOf returns the pod that a claim was created for.
func ownerOf(o *resourcev1.ResourceClaim) (controller.Key, bool) {
	ref := metav1.GetControllerOfNoCopy(o)
	if ref == nil || ref.Kind != "Pod" || ref.APIVersion != "v1" {
		return controller.Key{}, false
	}
	return controller.Key{Namespace: o.Namespace, Name: ref.Name}, true
}

func claimsOf(p *corev1.Pod) (keys []string) {
	for i := range p.Spec.ResourceClaims {
		if name, _ := nameOf(p, &p.Spec.ResourceClaims[i]); name != "" {
			keys = append(keys, controller.Key{Namespace: p.Namespace, Name: name}.String())
		}
	}
	return keys
}

func templatesOf(p *corev1.Pod) (keys []string) {
	for i := range p.Spec.ResourceClaims {
		if t := p.Spec.ResourceClaims[i].ResourceClaimTemplateName; t != nil {
			keys = append(keys, controller.Key{Namespace: p.Namespace, Name: *t}.String())
		}
	}
	return keys
}
