package schedulerplugins

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/client"
	"fairlead.dev/scheduler"
)

// registration is an event that may make a pod fit that a plugin has rejected.
type registration = fwk.ClusterEventWithHint

// builtin are the resources of events by their names in the framework, besides nodes and pods, which the scheduler watches.
var builtin = map[fwk.EventResource]schema.GroupVersionResource{
	fwk.PersistentVolume:      {Version: "v1", Resource: "persistentvolumes"},
	fwk.PersistentVolumeClaim: {Version: "v1", Resource: "persistentvolumeclaims"},
	fwk.CSINode:               {Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
	fwk.CSIDriver:             {Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
	fwk.VolumeAttachment:      {Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"},
	fwk.CSIStorageCapacity:    {Group: "storage.k8s.io", Version: "v1", Resource: "csistoragecapacities"},
	fwk.StorageClass:          {Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	fwk.ResourceClaim:         {Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
	fwk.ResourceSlice:         {Group: "resource.k8s.io", Version: "v1", Resource: "resourceslices"},
	fwk.DeviceClass:           {Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
	fwk.PodGroup:              {Group: "scheduling.k8s.io", Version: "v1beta1", Resource: "podgroups"},
	fwk.CompositePodGroup:     {Group: "scheduling.k8s.io", Version: "v1alpha3", Resource: "compositepodgroups"},
}

var podResources = []fwk.EventResource{fwk.Pod, fwk.AssignedPod, fwk.UnscheduledPod, fwk.TargetPod}

// registrationsOf returns the events of a plugin. One without EventsToRegister gets those of nodes, pods and volumes.
func registrationsOf(ctx context.Context, of fwk.Plugin) ([]registration, error) {
	if own, ok := of.(fwk.EnqueueExtensions); ok {
		return own.EventsToRegister(ctx)
	}
	var all []registration
	for _, r := range []fwk.EventResource{
		fwk.Pod, fwk.Node, fwk.PersistentVolume, fwk.PersistentVolumeClaim, fwk.CSINode, fwk.CSIDriver, fwk.CSIStorageCapacity, fwk.StorageClass,
	} {
		all = append(all, registration{Event: fwk.ClusterEvent{Resource: r, ActionType: fwk.All}})
	}
	return all, nil
}

// listen has the informers of the other resources report their events.
func (r *registry) listen() error {
	seen := map[fwk.EventResource]bool{}
	for _, p := range r.all {
		for _, e := range p.events {
			of := e.Event.Resource
			if of == fwk.Node || of == fwk.WildCard || slices.Contains(podResources, of) || seen[of] {
				continue
			}
			seen[of] = true
			if (of == fwk.PodGroup || of == fwk.CompositePodGroup) && !r.serves(builtin[of]) {
				continue
			}
			if err := r.listenTo(of); err != nil {
				return fmt.Errorf("plugin %q: %w", p.name, err)
			}
		}
	}
	return nil
}

// serves reports whether the server has a resource that a feature gate adds. If it does not answer, it may.
func (r *registry) serves(gvr schema.GroupVersionResource) bool {
	list, err := r.clients.Discovery().ServerResourcesForGroupVersion(gvr.GroupVersion().String())
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return slices.ContainsFunc(list.APIResources, func(one metav1.APIResource) bool { return one.Name == gvr.Resource })
}

func (r *registry) listenTo(of fwk.EventResource) error {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { r.do(event(of, fwk.Add), nil, o) },
		UpdateFunc: func(old, o any) { r.do(event(of, fwk.Update), old, o) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			r.do(event(of, fwk.Delete), o, nil)
		},
	}
	gvr, ok := builtin[of]
	if !ok {
		named, _ := schema.ParseResourceArg(string(of))
		if named == nil || strings.Contains(string(of), "/") {
			return fmt.Errorf("events of %q: want the form resource.version.group, such as foos.v1.example.com", of)
		}
		gvr = *named
	}
	// A resource of Kubernetes has the informer whose lister plugins read, so that the object of an event is there.
	if known, err := r.informers.ForResource(gvr); err == nil {
		_, err = known.Informer().AddEventHandler(handler)
		return err
	}
	_, err := r.custom.ForResource(gvr).Informer().AddEventHandler(handler)
	return err
}

// listenAgain has the shared informers of nodes and pods, where plugins use them, report their events too: a plugin that was
// asked because of the scheduler's own event may have read a lister that had not got there.
func (r *registry) listenAgain(used map[reflect.Type]bool) error {
	var errs []error
	if used[reflect.TypeFor[*corev1.Pod]()] {
		follower, err := r.follow(r.informers.Core().V1().Pods().Informer())
		r.pods, errs = follower, append(errs, err)
	}
	if used[reflect.TypeFor[*corev1.Node]()] {
		follower, err := r.follow(r.informers.Core().V1().Nodes().Informer())
		r.nodes, errs = follower, append(errs, err)
	}
	return errors.Join(errs...)
}

// follow has an informer report its events.
func (r *registry) follow(informer cache.SharedIndexInformer) (*follower, error) {
	f := newFollower(informer.GetStore())
	do := func(old, o any) {
		f.note()
		was, _ := old.(client.Object)
		is, _ := o.(client.Object)
		if a := r.attachment(); a != nil {
			a.Do(func(*scheduler.Cluster) { r.observed(was, is) })
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { do(nil, o) },
		UpdateFunc: do,
		DeleteFunc: func(o any) { do(o, nil) },
	})
	return f, err
}

// watched handles an event of the scheduler's own informers.
func (r *registry) watched(old, o client.Object) {
	switch either(old, o).(type) {
	case *corev1.Pod:
		if r.pods != nil {
			r.pods.has(old, o)
		}
	case *corev1.Node:
		if r.nodes != nil {
			r.nodes.has(old, o)
		}
	}
	r.observed(old, o)
}

// catchUp waits until the listers that plugins use are as new as the scheduler's objects.
func (r *registry) catchUp(pod *corev1.Pod) {
	if r.pods != nil {
		r.pods.has(nil, pod)
		r.pods.wait(r.ctx)
	}
	if r.nodes != nil {
		r.nodes.wait(r.ctx)
	}
}

func event(of fwk.EventResource, action fwk.ActionType) fwk.ClusterEvent {
	return fwk.ClusterEvent{Resource: of, ActionType: action}
}

// do has the scheduler's goroutine handle an event.
func (r *registry) do(e fwk.ClusterEvent, old, o any) {
	if a := r.attachment(); a != nil {
		a.Do(func(*scheduler.Cluster) { r.moved(e, "", old, o) })
	}
}

// observed handles an event of a node or a pod.
func (r *registry) observed(old, o client.Object) {
	if old == nil && o == nil {
		return // a deleted object whose last state is not known
	}
	switch latest := either(old, o).(type) {
	case *corev1.Node:
		was, _ := old.(*corev1.Node)
		is, _ := o.(*corev1.Node)
		for _, e := range nodeEvents(was, is) {
			r.moved(e, "", boxed(was), boxed(is))
		}
	case *corev1.Pod:
		was, _ := old.(*corev1.Pod)
		is, _ := o.(*corev1.Pod)
		for _, e := range podEvents(was, is) {
			r.moved(e, latest.UID, boxed(was), boxed(is))
		}
		if is == nil {
			for _, p := range r.all {
				delete(p.pending, latest.UID)
			}
		}
	}
}

func either(old, o client.Object) client.Object {
	if o != nil {
		return o
	}
	return old
}

// boxed returns nil for a nil pointer, as hints expect it.
func boxed[T any](o *T) any {
	if o == nil {
		return nil
	}
	return o
}

// moved tries the pods again for which a plugin's hint says so. about is the pod of a pod's event.
func (r *registry) moved(e fwk.ClusterEvent, about types.UID, old, o any) {
	attached := r.attachment()
	for _, p := range r.all {
		if !attached.Rejected(p) {
			continue
		}
		var hints []registration
		for _, of := range p.events {
			if matches(of.Event, e) {
				hints = append(hints, of)
			}
		}
		if len(hints) == 0 {
			continue
		}
		among := narrowed(hints, old, o)
		attached.MoveRejected(p, e.Label(), func(info *scheduler.PodInfo) scheduler.Move {
			own := info.Pod.UID == about
			if e.Resource == fwk.TargetPod && !own || e.Resource == fwk.UnscheduledPod && own {
				return scheduler.Stay
			}
			return p.hint(hints, among, info.Pod, old, o)
		})
	}
}

// narrowed calls the PreQueueingHints. The result has, for each registration with one, the only pods to ask about.
func narrowed(hints []registration, old, o any) []map[types.NamespacedName]bool {
	among := make([]map[types.NamespacedName]bool, len(hints))
	for i, of := range hints {
		if of.PreQueueingHintFn == nil || old == nil && o == nil {
			continue
		}
		var result fwk.PreQueueingHintResult
		var err error
		missed := guard(func() { result, err = of.PreQueueingHintFn(klog.Background(), old, o) })
		if missed != nil || err != nil || result.AllPods {
			continue
		}
		among[i] = map[types.NamespacedName]bool{}
		for _, name := range result.Pods {
			among[i][name] = true
		}
	}
	return among
}

func (p *plugin) hint(hints []registration, among []map[types.NamespacedName]bool, pod *corev1.Pod, old, o any) scheduler.Move {
	move := scheduler.Retry
	if p.pending[pod.UID] {
		move = scheduler.AtOnce
	}
	for i, of := range hints {
		if among[i] != nil && !among[i][types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] {
			continue
		}
		if of.QueueingHintFn == nil {
			return move
		}
		var hint fwk.QueueingHint
		var err error
		if missed := guard(func() { hint, err = of.QueueingHintFn(klog.Background(), pod, old, o) }); missed != nil {
			err = missed
		}
		if err != nil {
			p.log.Error("QueueingHintFn returns error", "plugin", p.name, "error", err)
		}
		if err != nil || hint == fwk.Queue {
			return move
		}
	}
	return scheduler.Stay
}

// matches reports whether a registered event is the one that has come. A general update, of which no part is known to matter,
// matches only those that register all updates.
func matches(registered, come fwk.ClusterEvent) bool {
	same := registered.Resource == fwk.WildCard || registered.Resource == come.Resource ||
		registered.Resource == fwk.Pod && slices.Contains(podResources, come.Resource)
	if !same {
		return false
	}
	if come.ActionType == fwk.Update {
		if _, other := builtin[come.Resource]; !other && (come.Resource == fwk.Node || slices.Contains(podResources, come.Resource)) {
			return registered.ActionType&fwk.Update == fwk.Update
		}
	}
	return registered.ActionType&come.ActionType != 0
}

// EventsToRegister returns the kinds of events that the scheduler makes itself, when it gives a pod a node or takes it back.
func (p *plugin) EventsToRegister() (kinds scheduler.EventKind) {
	for _, of := range p.events {
		if matches(of.Event, event(fwk.AssignedPod, fwk.Add)) {
			kinds |= scheduler.PodAdded
		}
		if matches(of.Event, event(fwk.AssignedPod, fwk.Delete)) {
			kinds |= scheduler.PodRemoved
		}
	}
	return kinds
}

// QueueingHint asks the plugin about such an event.
func (p *plugin) QueueingHint(info *scheduler.PodInfo, e *scheduler.ClusterEvent) bool {
	if e.Pod == nil || e.Pod.Pod.UID == info.Pod.UID {
		return false
	}
	if e.Kind == scheduler.PodRemoved && p.lister.cluster.Assigned(e.Pod.Pod.UID) != nil {
		return false // it is still there, but terminates or needs less: an update for plugins, which observed handles
	}
	come, old, o := event(fwk.AssignedPod, fwk.Add), any(nil), any(e.Pod.Pod)
	if e.Kind == scheduler.PodRemoved {
		come, old, o = event(fwk.AssignedPod, fwk.Delete), e.Pod.Pod, nil
	}
	var hints []registration
	for _, of := range p.events {
		if matches(of.Event, come) {
			hints = append(hints, of)
		}
	}
	return len(hints) > 0 && p.hint(hints, narrowed(hints, old, o), info.Pod, old, o) != scheduler.Stay
}
