package scheduler

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/internal/scheduler/framework"
)

// listen sends the informers' events to the loop, until stop is called.
func (s *loop) listen() (stop func()) {
	stops := []func(){
		listening(s.objects, s.objects.nodes, observed(s, informer.Handler[*corev1.Node]{
			Add:    func(n *corev1.Node, _ bool) { s.send(func() { s.addNode(n) }) },
			Update: s.updateNode,
			Delete: func(n *corev1.Node) { s.send(func() { s.deleteNode(n) }) },
		}, s.keepNode)),
		listening(s.objects, s.objects.pods, observed(s, informer.Handler[*corev1.Pod]{
			Add:    func(p *corev1.Pod, _ bool) { s.updatePod(nil, p) },
			Update: s.updatePod,
			Delete: func(p *corev1.Pod) { s.send(func() { s.deletePod(p) }) },
		}, s.keepPod)),
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
	stops = append(stops, s.listenToDevices()...)
	stops = append(stops, s.listenToGroups()...)
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// onVolumeChange is the handler of volume objects: it reports only that one of them has changed.
func onVolumeChange[T client.Object](s *loop) informer.Handler[T] {
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

func (s *loop) namespacesChanged() {
	s.cluster.NamespacesChanged()
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NamespaceChanged}, time.Now())
}

func (s *loop) addNode(node *corev1.Node) {
	n := s.cluster.SetNode(node)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeAdded, Node: n}, time.Now())
}

// updateNode sends changes of a node that affect scheduling; heartbeats do not.
func (s *loop) updateNode(old, node *corev1.Node) {
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
		slices.Equal(old.Status.DeclaredFeatures, node.Status.DeclaredFeatures) &&
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

func (s *loop) deleteNode(node *corev1.Node) {
	s.cluster.RemoveNode(node.Name)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeRemoved}, time.Now())
}
