package scheduler

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/client"
	"fairlead.dev/informer"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// listen hands what the informers tell to the loop, until stop is called.
func (s *Scheduler) listen() (stop func()) {
	stops := []func(){
		listening(s.objects, s.objects.nodes, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { s.send(func() { s.addNode(n) }) },
			Update: s.updateNode,
			Delete: func(n *corev1.Node) { s.send(func() { s.deleteNode(n) }) },
		}),
		listening(s.objects, s.objects.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { s.updatePod(nil, p) },
			Update: s.updatePod,
			Delete: func(p *corev1.Pod) { s.send(func() { s.deletePod(p) }) },
		}),
		listening(s.objects, s.objects.namespaces, informer.Handler[*corev1.Namespace]{
			Update: func(old, ns *corev1.Namespace) {
				if !maps.Equal(old.Labels, ns.Labels) {
					s.send(s.namespacesChanged)
				}
			},
			Add: func(_ *corev1.Namespace, initial bool) {
				if !initial {
					s.send(s.namespacesChanged)
				}
			},
		}),
		listening(s.objects, s.objects.claims, onVolumeChange[*corev1.PersistentVolumeClaim](s)),
		listening(s.objects, s.objects.volumes, onVolumeChange[*corev1.PersistentVolume](s)),
		listening(s.objects, s.objects.classes, onVolumeChange[*storagev1.StorageClass](s)),
		listening(s.objects, s.objects.csiNodes, onVolumeChange[*storagev1.CSINode](s)),
		listening(s.objects, s.objects.csiDrivers, onVolumeChange[*storagev1.CSIDriver](s)),
		listening(s.objects, s.objects.attachments, onVolumeChange[*storagev1.VolumeAttachment](s)),
		listening(s.objects, s.objects.capacities, onVolumeChange[*storagev1.CSIStorageCapacity](s)),
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// onVolumeChange is the handler of objects of volumes, about which it matters only that
// something changed.
func onVolumeChange[T client.Object](s *Scheduler) informer.Handler[T] {
	changed := func() {
		s.objects.Changed()
		s.send(func() { s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.VolumesChanged}, time.Now()) })
	}
	return informer.Handler[T]{
		Add:    func(T, bool) { changed() },
		Update: func(_, _ T) { changed() },
		Delete: func(T) { changed() },
	}
}

func (s *Scheduler) namespacesChanged() {
	s.cluster.NamespacesChanged()
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NamespaceChanged}, time.Now())
}

func (s *Scheduler) addNode(node *corev1.Node) {
	n := s.cluster.SetNode(node)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeAdded, Node: n}, time.Now())
}

// updateNode passes on what bears on placing pods; heartbeats do not.
func (s *Scheduler) updateNode(old, node *corev1.Node) {
	if len(old.Status.Images) != len(node.Status.Images) || !apiequality.Semantic.DeepEqual(old.Status.Images, node.Status.Images) {
		defer s.send(func() {
			if n := s.cluster.Node(node.Name); n != nil {
				s.cluster.SetImages(n, node.Status.Images)
			}
		})
	}
	if old.Spec.Unschedulable == node.Spec.Unschedulable &&
		ready(old) == ready(node) &&
		maps.Equal(old.Labels, node.Labels) &&
		apiequality.Semantic.DeepEqual(old.Spec.Taints, node.Spec.Taints) &&
		apiequality.Semantic.DeepEqual(old.Status.Allocatable, node.Status.Allocatable) {
		return
	}
	s.send(func() {
		n := s.cluster.SetNode(node)
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeChanged, Node: n}, time.Now())
	})
}

func ready(node *corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

func (s *Scheduler) deleteNode(node *corev1.Node) {
	s.cluster.RemoveNode(node.Name)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeRemoved}, time.Now())
}

// updatePod passes on what bears on placing this pod or others. The pod's rules are
// read here, on the informer's goroutine.
func (s *Scheduler) updatePod(old, pod *corev1.Pod) {
	ours := s.profiles[pod.Spec.SchedulerName] != nil
	switch {
	case old != nil && unchangedForScheduling(old, pod):
		if pod.Spec.NodeName == "" && ours {
			p := cache.NewPodInfo(pod)
			s.send(func() { s.refreshPending(p) })
		}
		if !old.Status.StartTime.Equal(pod.Status.StartTime) {
			s.send(func() { s.setStartTime(pod) })
		}
		return
	}
	switch {
	case isTerminal(pod):
		s.send(func() { s.deletePod(pod) })
	case pod.Spec.NodeName != "":
		p := cache.NewPodInfo(pod)
		s.send(func() { s.addAssigned(p) })
	case pod.DeletionTimestamp != nil || !ours:
		s.send(func() { s.deletePod(pod) })
	default:
		p := cache.NewPodInfo(pod)
		s.send(func() { s.addPending(p) })
	}
}

// unchangedForScheduling says whether nothing changed but annotations and status, as most
// updates of pods are.
func unchangedForScheduling(old, pod *corev1.Pod) bool {
	return old.Spec.NodeName == pod.Spec.NodeName &&
		isTerminal(old) == isTerminal(pod) &&
		(old.DeletionTimestamp == nil) == (pod.DeletionTimestamp == nil) &&
		maps.Equal(old.Labels, pod.Labels) &&
		(old.Generation == pod.Generation && pod.Generation != 0 || apiequality.Semantic.DeepEqual(old.Spec, pod.Spec))
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// addPending takes in a pod without a node.
func (s *Scheduler) addPending(p *cache.PodInfo) {
	if a := s.assumed[p.Pod.UID]; a != nil {
		a.Latest = p
		return
	}
	if node := p.Pod.Status.NominatedNodeName; node != "" && !s.queue.Has(p.Pod.UID) {
		s.queue.AddNominated(p, node, time.Now())
		s.cluster.Nominate(p, node)
		return
	}
	s.queue.AddOrUpdate(p, time.Now())
	if gates := p.Pod.Spec.SchedulingGates; len(gates) > 0 {
		s.reports.add(p.Pod, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates", "")
	}
}

func (s *Scheduler) refreshPending(p *cache.PodInfo) {
	if a := s.assumed[p.Pod.UID]; a != nil {
		a.Latest = p
		return
	}
	s.queue.Refresh(p)
}

func (s *Scheduler) setStartTime(pod *corev1.Pod) {
	s.cluster.SetStartTime(pod.UID, pod.Status.StartTime)
}

// addAssigned takes in a pod on a node; often one that was assumed there.
func (s *Scheduler) addAssigned(p *cache.PodInfo) {
	s.queue.Delete(p.Pod.UID)
	s.cluster.Withdraw(p.Pod.UID)
	delete(s.assumed, p.Pod.UID)
	old, from := s.cluster.RemovePod(p.Pod.UID)
	s.cluster.AddPod(p, p.Pod.Spec.NodeName)
	now := time.Now()
	if old == nil || from != p.NodeInfo || !maps.Equal(old.Pod.Labels, p.Pod.Labels) {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: p.NodeInfo, Pod: p}, now)
	}
	// It moved, shrank or is on its way out: others may fit now.
	if old != nil && (from != p.NodeInfo || old.Terminating != p.Terminating || old.Pod.Generation != p.Pod.Generation) {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: from, Pod: old}, now)
	}
}

func (s *Scheduler) deletePod(pod *corev1.Pod) {
	s.queue.Delete(pod.UID)
	s.cluster.Withdraw(pod.UID)
	if a := s.assumed[pod.UID]; a != nil && a.cancel != nil {
		a.cancel() // nobody waits for its volumes any more
	}
	delete(s.assumed, pod.UID)
	if p, n := s.cluster.RemovePod(pod.UID); n != nil {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: n, Pod: p}, time.Now())
	}
}
