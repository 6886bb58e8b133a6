package resourceclaim

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
)

// Indexes: of pods by their claims, of pods and groups by their templates, of claims by the object that they were created for.
const (
	byClaim    = "resource claim"
	byTemplate = "resource claim template"
	byOwner    = "owner of a resource claim"
)

// Options configure the controller.
type Options struct {
	// Groups: pods may have groups (feature gate GenericWorkload).
	Groups bool
	// GroupClaims: groups may have claims (feature gate DRAWorkloadResourceClaims). It needs Groups.
	GroupClaims bool
}

type claimer struct {
	options   Options
	pods      controller.Objects[*corev1.Pod]
	groups    controller.Objects[*schedulingv1beta1.PodGroup] // without an informer unless Options.Groups
	claims    controller.Objects[*resourcev1.ResourceClaim]
	templates controller.Objects[*resourcev1.ResourceClaimTemplate]
	written   map[string]*podcontrol.Written // claims, by the kind of their owner
	rec       *client.Recorder
	podLoop   *controller.Controller
	claimLoop *controller.Controller
}

// New returns the controller, with queues of pods that need claims, of groups that do, if these may have any, and of claims
// that may have lost their users.
func New(env controller.Env, o Options) controller.Runner {
	c := &claimer{
		options:   o,
		pods:      controller.ObjectsOf[*corev1.Pod](env),
		claims:    controller.ObjectsOf[*resourcev1.ResourceClaim](env),
		templates: controller.ObjectsOf[*resourcev1.ResourceClaimTemplate](env),
		written:   map[string]*podcontrol.Written{podKind: {}, groupKind: {}},
		rec:       env.Recorder.From("resource_claim", ""),
	}
	c.pods.Index(byClaim, claimsOf)
	c.pods.Index(byTemplate, templatesOf)
	c.claims.Index(byOwner, func(o *resourcev1.ResourceClaim) []string {
		if by := ownerOf(o); by.kind != "" {
			return []string{by.String()}
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
				c.written[podKind].Forget(controller.KeyOf(p))
				c.wakeClaims(p)
			},
		}),
		controller.Handles(c.claims, informer.Handler[*resourcev1.ResourceClaim]{
			Add:    func(o *resourcev1.ResourceClaim, _ bool) { c.wakePods(o) },
			Update: func(_, o *resourcev1.ResourceClaim) { c.wakePods(o) },
			Delete: func(o *resourcev1.ResourceClaim) {
				if by := ownerOf(o); by.kind != "" {
					c.written[by.kind].Gone(by.Key, o.UID)
				}
				c.wakePods(o)
			},
		}),
		controller.Watches(c.templates, c.podsOf),
	)
	c.claimLoop.Watch(controller.For(c.claims), controller.Reads(c.pods)) // podSeen enqueues too
	all := controller.Runners{c.podLoop, c.claimLoop}
	if o.Groups {
		c.groups = controller.ObjectsOf[*schedulingv1beta1.PodGroup](env)
		all = append(all, c.followGroups()...)
	}
	return all
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
	for name := range resourceclaim.PodClaims(p) {
		c.claimLoop.EnqueueFor(controller.Key{Namespace: p.Namespace, Name: name}, p)
	}
}

// wakePods enqueues the pods that use a claim, and the one that it was created for, or all those of its group.
func (c *claimer) wakePods(o *resourcev1.ResourceClaim) {
	for _, p := range c.pods.Store().ByIndex(byClaim, controller.KeyOf(o).String()) {
		c.podLoop.EnqueueFor(controller.KeyOf(p), o)
	}
	switch by := ownerOf(o); {
	case by.kind == podKind:
		c.podLoop.EnqueueFor(by.Key, o)
	case by.kind == groupKind && c.options.GroupClaims:
		for _, k := range c.members(by.Key) {
			c.podLoop.EnqueueFor(k, o)
		}
	}
}

// done reports whether a pod will not run any more: it has finished, or was deleted before it had a node.
func done(p *corev1.Pod) bool {
	return podcontrol.IsFinished(p) || p.DeletionTimestamp != nil && p.Spec.NodeName == ""
}

func claimsOf(p *corev1.Pod) (keys []string) {
	for i := range p.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(p, &p.Spec.ResourceClaims[i]); err == nil && name != nil {
			keys = append(keys, controller.Key{Namespace: p.Namespace, Name: *name}.String())
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
