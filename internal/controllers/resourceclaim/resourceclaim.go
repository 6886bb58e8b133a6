package resourceclaim

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"golang.org/x/sync/errgroup"

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
	podsAPI   client.Resource[*corev1.Pod]
	claimsAPI client.Resource[*resourcev1.ResourceClaim]
	pods      *informer.Informer[*corev1.Pod]
	claims    *informer.Informer[*resourcev1.ResourceClaim]
	templates *informer.Informer[*resourcev1.ResourceClaimTemplate]
	written   podcontrol.Written // claims, by their pod
	rec       *client.Recorder
	podLoop   *controller.Controller
	claimLoop *controller.Controller
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	c := &claimer{
		podsAPI:   client.For[*corev1.Pod](env.Client),
		claimsAPI: client.For[*resourcev1.ResourceClaim](env.Client),
		pods:      informer.For[*corev1.Pod](env.Informers),
		claims:    informer.For[*resourcev1.ResourceClaim](env.Informers),
		templates: informer.For[*resourcev1.ResourceClaimTemplate](env.Informers),
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
	c.podLoop = controller.New("resourceclaim-pods", c.syncPod, controller.Options{})
	c.claimLoop = controller.New("resourceclaim", c.syncClaim, controller.Options{})
	c.watch()
	return c
}

// Run runs both loops.
func (c *claimer) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.podLoop.Run(ctx) })
	g.Go(func() error { return c.claimLoop.Run(ctx) })
	return g.Wait()
}

func (c *claimer) watch() {
	controller.WatchFunc(c.podLoop, c.pods, informer.Handler[*corev1.Pod]{
		Add:    func(p *corev1.Pod, _ bool) { c.podSeen(p) },
		Update: func(_, p *corev1.Pod) { c.podSeen(p) },
		Delete: func(p *corev1.Pod) {
			c.written.Forget(controller.KeyOf(p))
			c.wakeClaims(p)
		},
	})
	controller.WatchFunc(c.claimLoop, c.pods, informer.Handler[*corev1.Pod]{})
	controller.Watch(c.claimLoop, c.claims, controller.Self[*resourcev1.ResourceClaim])
	controller.WatchFunc(c.podLoop, c.claims, informer.Handler[*resourcev1.ResourceClaim]{
		Add:    func(o *resourcev1.ResourceClaim, _ bool) { c.wakePods(o) },
		Update: func(_, o *resourcev1.ResourceClaim) { c.wakePods(o) },
		Delete: func(o *resourcev1.ResourceClaim) {
			if k, ok := ownerOf(o); ok {
				c.written.Gone(k, o.UID)
			}
			c.wakePods(o)
		},
	})
	controller.Watch(c.podLoop, c.templates, func(t *resourcev1.ResourceClaimTemplate) (keys []controller.Key) {
		for _, p := range c.pods.Store().ByIndex(byTemplate, controller.KeyOf(t).String()) {
			keys = append(keys, controller.KeyOf(p))
		}
		return keys
	})
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
