package resourcequota

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/quota"
)

const (
	resync = 5 * time.Minute
	pace   = 500 * time.Millisecond
	again  = 2 * time.Second // after a count below the previous usage
)

type counter struct {
	env      controller.Env
	quotas   controller.Objects[*corev1.ResourceQuota]
	pods     controller.Objects[*corev1.Pod]
	services controller.Objects[*corev1.Service]
	claims   controller.Objects[*corev1.PersistentVolumeClaim]
	devices  controller.Objects[*resourcev1.ResourceClaim]
	others   quota.Lookups
	pace     podcontrol.Pace
	loop     *controller.Controller

	mu struct {
		sync.Mutex
		follows map[schema.GroupResource]metadata
		served  []client.APIResource
		asked   time.Time
	}
}

// New returns the resource quota controller.
func New(env controller.Env) controller.Runner {
	c := &counter{
		env:      env,
		quotas:   controller.ObjectsOf[*corev1.ResourceQuota](env),
		pods:     controller.ObjectsOf[*corev1.Pod](env),
		services: controller.ObjectsOf[*corev1.Service](env),
		claims:   controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		devices:  controller.ObjectsOf[*resourcev1.ResourceClaim](env),
		pace:     podcontrol.Pace{Every: pace},
	}
	classes := controller.ObjectsOf[*resourcev1.DeviceClass](env)
	c.others = quota.Lookups{
		DeviceClasses: func() []*resourcev1.DeviceClass { return classes.Store().List("") },
		DeviceClaims:  c.devices.Store().List,
		Pod: func(namespace, name string) *corev1.Pod {
			pod, _ := c.pods.Store().Get(namespace, name)
			return pod
		},
	}
	c.mu.follows = map[schema.GroupResource]metadata{}
	c.loop = controller.New("resourcequota", controller.ByObject(c.quotas, c.reconcile, c.pace.Forget), controller.Options{})
	return c.loop.Watch(
		controller.For(c.quotas).If(func(old, q *corev1.ResourceQuota) bool { return !equality.Semantic.DeepEqual(old.Spec, q.Spec) }),
		follow(c, c.pods, pods, c.podsAlike),
		follow(c, c.services, services, func(a, b *corev1.Service) bool { return true }),
		follow(c, c.claims, volumeClaims, func(a, b *corev1.PersistentVolumeClaim) bool {
			return equality.Semantic.DeepEqual(quota.AttributesClasses(a), quota.AttributesClasses(b))
		}),
		follow(c, c.devices, deviceClaims, func(a, b *resourcev1.ResourceClaim) bool { return true }),
		c.followClasses(classes),
	)
}

// podsAlike reports whether two states of a pod are equal for scopes. When a pod starts terminating, it enqueues the
// quotas for a recount after the grace period.
func (c *counter) podsAlike(a, b *corev1.Pod) bool {
	if b.DeletionTimestamp != nil && a.DeletionTimestamp == nil && quota.IsPodCounted(b) {
		c.wake(b, time.Until(b.DeletionTimestamp.Time)+time.Duration(*b.DeletionGracePeriodSeconds)*time.Second+time.Second)
	}
	return quota.PodTerminates(a) == quota.PodTerminates(b) && quota.IsPodCounted(a) == quota.IsPodCounted(b)
}

// followClasses recounts all quotas when a device class appears, disappears, or changes its extended resource,
// because claims are then charged under other names.
func (c *counter) followClasses(classes controller.Objects[*resourcev1.DeviceClass]) controller.Source {
	recount := func(*resourcev1.DeviceClass) {
		for _, q := range c.quotas.Store().List("") {
			k := controller.KeyOf(q)
			c.loop.EnqueueForAfter(k, q, c.pace.Delay(k))
		}
	}
	return controller.Handles(classes, informer.Handler[*resourcev1.DeviceClass]{
		Add: func(d *resourcev1.DeviceClass, first bool) {
			if !first {
				recount(d)
			}
		},
		Update: func(_, d *resourcev1.DeviceClass) { recount(d) },
		Delete: recount,
	})
}

var (
	pods         = schema.GroupResource{Resource: "pods"}
	services     = schema.GroupResource{Resource: "services"}
	volumeClaims = schema.GroupResource{Resource: "persistentvolumeclaims"}
	deviceClaims = schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}
)

// follow wakes the quotas of a namespace when an object is deleted, changes its usage, or changes for scopes
// according to alike.
func follow[T client.Object](c *counter, i controller.Objects[T], of schema.GroupResource, alike func(a, b T) bool) controller.Source {
	return controller.Handles(i, informer.Handler[T]{
		Add: func(o T, _ bool) { c.appeared(o) },
		Update: func(old, o T) {
			if !c.bounded(o.GetNamespace()) {
				return
			}
			m, _ := quota.For(of, c.others)
			if !alike(old, o) || !quota.Equal(m.Usage(old), m.Usage(o)) {
				c.wake(o, 0)
			}
		},
		Delete: func(o T) { c.wake(o, 0) },
	})
}

// appeared recounts the quotas that are not older than a newly seen object: objects created after a quota were
// charged by admission, older ones need a count that includes them.
func (c *counter) appeared(o client.Object) {
	made := o.GetCreationTimestamp()
	for _, q := range c.quotas.Store().List(o.GetNamespace()) {
		if !q.CreationTimestamp.Before(&made) {
			k := controller.KeyOf(q)
			c.loop.EnqueueForAfter(k, o, c.pace.Delay(k))
		}
	}
}

// bounded reports whether the namespace has a quota at all.
func (c *counter) bounded(namespace string) bool { return len(c.quotas.Store().List(namespace)) > 0 }

// wake enqueues the quotas of an object's namespace after a time.
func (c *counter) wake(o client.Object, after time.Duration) {
	for _, q := range c.quotas.Store().List(o.GetNamespace()) {
		k := controller.KeyOf(q)
		c.loop.EnqueueForAfter(k, o, max(after, c.pace.Delay(k)))
	}
}

func (c *counter) reconcile(ctx context.Context, q *corev1.ResourceQuota) (controller.Result, error) {
	c.pace.Mark(controller.KeyOf(q))
	counted, err := c.count(ctx, q)
	used := q.Status.Used.DeepCopy()
	if used == nil {
		used = corev1.ResourceList{}
	}
	next := resync
	for name, n := range counted {
		if was, ok := used[name]; ok && n.Cmp(was) < 0 {
			next = again
		}
		used[name] = n
	}
	for name := range used {
		if _, bounded := q.Spec.Hard[name]; !bounded {
			delete(used, name)
		}
	}
	if q.Status.Hard == nil || !quota.Equal(q.Status.Hard, q.Spec.Hard) || !quota.Equal(q.Status.Used, used) {
		changed := q.DeepCopy()
		changed.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard.DeepCopy(), Used: used}
		if changed.Status.Hard == nil {
			changed.Status.Hard = corev1.ResourceList{}
		}
		if _, werr := c.quotas.API.Namespace(q.Namespace).UpdateStatus(ctx, changed); werr != nil && !apierrors.IsNotFound(werr) {
			return controller.Result{}, werr
		}
	}
	return controller.Result{RequeueAfter: next}, err
}
