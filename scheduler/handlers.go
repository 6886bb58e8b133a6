package scheduler

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// listen hands what the informers tell to the loop, until stop is called.
func (s *Scheduler) listen() (stop func()) {
	stops := []func(){
		listening(s.objects, s.objects.nodes, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { s.tell(func() { s.nodeAdded(n) }) },
			Update: s.nodeUpdate,
			Delete: func(n *corev1.Node) { s.tell(func() { s.nodeGone(n) }) },
		}),
		listening(s.objects, s.objects.pods, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { s.podUpdate(nil, p) },
			Update: s.podUpdate,
			Delete: func(p *corev1.Pod) { s.tell(func() { s.podGone(p) }) },
		}),
		listening(s.objects, s.objects.namespaces, informer.Handler[*corev1.Namespace]{
			Update: func(old, ns *corev1.Namespace) {
				if !maps.Equal(old.Labels, ns.Labels) {
					s.tell(s.namespacesChanged)
				}
			},
			Add: func(_ *corev1.Namespace, initial bool) {
				if !initial {
					s.tell(s.namespacesChanged)
				}
			},
		}),
		listening(s.objects, s.objects.claims, anyChange[*corev1.PersistentVolumeClaim](s)),
		listening(s.objects, s.objects.volumes, anyChange[*corev1.PersistentVolume](s)),
		listening(s.objects, s.objects.classes, anyChange[*storagev1.StorageClass](s)),
		listening(s.objects, s.objects.csiNodes, anyChange[*storagev1.CSINode](s)),
		listening(s.objects, s.objects.csiDrivers, anyChange[*storagev1.CSIDriver](s)),
		listening(s.objects, s.objects.attachments, anyChange[*storagev1.VolumeAttachment](s)),
		listening(s.objects, s.objects.capacities, anyChange[*storagev1.CSIStorageCapacity](s)),
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// anyChange is the handler of objects of volumes, about which it matters only that
// something changed.
func anyChange[T client.Object](s *Scheduler) informer.Handler[T] {
	changed := func() {
		s.objects.bell.ring()
		s.tell(func() { s.queue.happened(&Event{Kind: VolumesChanged}, time.Now()) })
	}
	return informer.Handler[T]{
		Add:    func(T, bool) { changed() },
		Update: func(_, _ T) { changed() },
		Delete: func(T) { changed() },
	}
}

func (s *Scheduler) namespacesChanged() {
	s.cluster.NamespacesChanged()
	s.queue.happened(&Event{Kind: NamespaceChanged}, time.Now())
}

func (s *Scheduler) nodeAdded(node *corev1.Node) {
	n := s.cluster.SetNode(node)
	s.queue.happened(&Event{Kind: NodeAdded, Node: n}, time.Now())
}

// nodeUpdate passes on what bears on placing pods; heartbeats do not.
func (s *Scheduler) nodeUpdate(old, node *corev1.Node) {
	if len(old.Status.Images) != len(node.Status.Images) || !apiequality.Semantic.DeepEqual(old.Status.Images, node.Status.Images) {
		defer s.tell(func() {
			if n := s.cluster.Node(node.Name); n != nil {
				s.cluster.setImages(n, node.Status.Images)
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
	s.tell(func() {
		n := s.cluster.SetNode(node)
		s.queue.happened(&Event{Kind: NodeChanged, Node: n}, time.Now())
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

func (s *Scheduler) nodeGone(node *corev1.Node) {
	s.cluster.RemoveNode(node.Name)
	s.queue.happened(&Event{Kind: NodeRemoved}, time.Now())
}

// podUpdate passes on what bears on placing this pod or others. The pod's rules are
// read here, on the informer's goroutine.
func (s *Scheduler) podUpdate(old, pod *corev1.Pod) {
	ours := s.profiles[pod.Spec.SchedulerName] != nil
	switch {
	case old != nil && sameToOthers(old, pod):
		if pod.Spec.NodeName == "" && ours {
			p := NewPodInfo(pod)
			s.tell(func() { s.podRefreshed(p) })
		}
		if !old.Status.StartTime.Equal(pod.Status.StartTime) {
			s.tell(func() { s.podStarted(pod) })
		}
		return
	}
	switch {
	case ended(pod):
		s.tell(func() { s.podGone(pod) })
	case pod.Spec.NodeName != "":
		p := NewPodInfo(pod)
		s.tell(func() { s.podPlaced(p) })
	case pod.DeletionTimestamp != nil || !ours:
		s.tell(func() { s.podGone(pod) })
	default:
		p := NewPodInfo(pod)
		s.tell(func() { s.podWaits(p) })
	}
}

// sameToOthers says whether nothing changed but annotations and status, as most
// updates of pods are.
func sameToOthers(old, pod *corev1.Pod) bool {
	return old.Spec.NodeName == pod.Spec.NodeName &&
		ended(old) == ended(pod) &&
		(old.DeletionTimestamp == nil) == (pod.DeletionTimestamp == nil) &&
		maps.Equal(old.Labels, pod.Labels) &&
		(old.Generation == pod.Generation && pod.Generation != 0 || apiequality.Semantic.DeepEqual(old.Spec, pod.Spec))
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// podWaits takes in a pod without a node.
func (s *Scheduler) podWaits(p *PodInfo) {
	if a := s.assumed[p.Pod.UID]; a != nil {
		a.latest = p
		return
	}
	if node := p.Pod.Status.NominatedNodeName; node != "" && s.queue.pods[p.Pod.UID] == nil {
		s.queue.set(p, time.Now())
		s.queue.pods[p.Pod.UID].nominee = node // by the scheduler that was here before
		s.cluster.Nominate(p, node)
		return
	}
	s.queue.set(p, time.Now())
	if gates := p.Pod.Spec.SchedulingGates; len(gates) > 0 {
		s.reports.add(p.Pod, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates", "")
	}
}

func (s *Scheduler) podRefreshed(p *PodInfo) {
	if a := s.assumed[p.Pod.UID]; a != nil {
		a.latest = p
		return
	}
	s.queue.refresh(p)
}

func (s *Scheduler) podStarted(pod *corev1.Pod) {
	if p := s.cluster.pods[pod.UID]; p != nil {
		p.start = pod.Status.StartTime
	}
}

// podPlaced takes in a pod on a node; often one that was assumed there.
func (s *Scheduler) podPlaced(p *PodInfo) {
	s.queue.remove(p.Pod.UID)
	s.cluster.Withdraw(p.Pod.UID)
	delete(s.assumed, p.Pod.UID)
	old, from := s.cluster.RemovePod(p.Pod.UID)
	s.cluster.AddPod(p, p.Pod.Spec.NodeName)
	now := time.Now()
	if old == nil || from != p.node || !maps.Equal(old.Pod.Labels, p.Pod.Labels) {
		s.queue.happened(&Event{Kind: PodAdded, Node: p.node, Pod: p}, now)
	}
	// It moved, shrank or is on its way out: others may fit now.
	if old != nil && (from != p.node || old.terminating != p.terminating || old.Pod.Generation != p.Pod.Generation) {
		s.queue.happened(&Event{Kind: PodRemoved, Node: from, Pod: old}, now)
	}
}

func (s *Scheduler) podGone(pod *corev1.Pod) {
	s.queue.remove(pod.UID)
	s.cluster.Withdraw(pod.UID)
	if a := s.assumed[pod.UID]; a != nil && a.cancel != nil {
		a.cancel() // nobody waits for its volumes any more
	}
	delete(s.assumed, pod.UID)
	if p, n := s.cluster.RemovePod(pod.UID); n != nil {
		s.queue.happened(&Event{Kind: PodRemoved, Node: n, Pod: p}, time.Now())
	}
}
