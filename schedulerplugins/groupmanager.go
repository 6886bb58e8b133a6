package schedulerplugins

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// groupManager is the PodGroupManager. Pods that the attempt in progress has placed for their group are unscheduled in it, as in
// kube-scheduler's cache. It may be used on any goroutine.
type groupManager struct{ groups }

var _ fwk.PodGroupManager = groupManager{}

func (m groupManager) PodGroupStates() fwk.PodGroupStateLister { return podGroupStates(m) }
func (m groupManager) PodGroups() fwk.PodGroupLister           { return podGroups(m) }
func (m groupManager) CompositePodGroupStates() fwk.CompositePodGroupStateLister {
	return compositeStates(m)
}
func (m groupManager) CompositePodGroups() fwk.CompositePodGroupLister { return compositeGroups(m) }

// GetRootKeyForGroup returns the root of a group's hierarchy; false if a group on the way does not exist.
func (m groupManager) GetRootKeyForGroup(key fwk.EntityKey) (root fwk.EntityKey, ok bool, err error) {
	if key.Type == fwk.PodKeyType {
		return root, false, fmt.Errorf("pod key type not supported in GetRootKeyForGroup for %s", key)
	}
	m.groups(func(r scheduler.Groups) {
		seen := sets.New[fwk.EntityKey]()
		for at := key; ; {
			if seen.Has(at) {
				err = fmt.Errorf("cycle detected in the hierarchy: %v", seen.UnsortedList())
				return
			}
			seen.Insert(at)
			parent, exists := parentOf(r, at)
			if !exists {
				return
			}
			if parent == nil || !r.HasComposites() {
				root, ok = at, true
				return
			}
			at = fwk.CompositePodGroupKey(at.Namespace, *parent)
		}
	})
	return root, ok, err
}

// parentOf returns the name of a group's parent, nil if it has none; false if the group does not exist.
func parentOf(r scheduler.Groups, key fwk.EntityKey) (parent *string, exists bool) {
	if key.Type == fwk.CompositePodGroupKeyType {
		c, _ := r.CompositePodGroup(key.Namespace, key.Name)
		if c.Object == nil {
			return nil, false
		}
		return c.Object.Spec.ParentCompositePodGroupName, true
	}
	g, _ := r.Object(key.Namespace, key.Name)
	if g == nil {
		return nil, false
	}
	return g.Spec.ParentCompositePodGroupName, true
}

// BuildHierarchySnapshotFromPod returns the groups of a pod's hierarchy, as they are now.
func (m groupManager) BuildHierarchySnapshotFromPod(pod *corev1.Pod) (fwk.PodGroupManager, error) {
	of := pod.Spec.SchedulingGroup
	if of == nil || of.PodGroupName == nil {
		return nil, errors.New("pod has no scheduling group")
	}
	key := fwk.PodGroupKey(pod.Namespace, *of.PodGroupName)
	h, err := &hierarchy{pods: map[fwk.EntityKey]scheduler.PodGroupView{}}, fmt.Errorf("pod group state not found for %s", key)
	m.groups(func(r scheduler.Groups) {
		if r.HasComposites() {
			h.composite = map[fwk.EntityKey]scheduler.CompositePodGroupView{}
		}
		if key, err = rootOf(r, key); err == nil {
			err = h.add(r, key)
		}
	})
	if err != nil {
		return nil, err
	}
	return frozenManager{groupManager{func(f func(scheduler.Groups)) { f(h) }}}, nil
}

// rootOf returns the root of a pod group's hierarchy. One that is its own parent ends the search, and add reports it.
func rootOf(r scheduler.Groups, key fwk.EntityKey) (fwk.EntityKey, error) {
	if _, known := r.Object(key.Namespace, key.Name); !known {
		return key, fmt.Errorf("pod group state not found for %s", key)
	}
	seen := sets.New[fwk.EntityKey]()
	for kind := "pod group"; ; kind = "composite pod group" {
		if kind != "pod group" {
			if _, ok := r.CompositePodGroup(key.Namespace, key.Name); !ok {
				return key, fmt.Errorf("parent composite pod group state not found for %s", key)
			}
		}
		parent, exists := parentOf(r, key)
		if !exists {
			return key, fmt.Errorf("%s object not found in state for %s", kind, key)
		}
		if parent == nil || !r.HasComposites() || seen.Has(key) {
			return key, nil
		}
		seen.Insert(key)
		key = fwk.CompositePodGroupKey(key.Namespace, *parent)
	}
}

// hierarchy is a copy of the groups below a root.
type hierarchy struct {
	pods      map[fwk.EntityKey]scheduler.PodGroupView
	composite map[fwk.EntityKey]scheduler.CompositePodGroupView // nil without groups of groups
}

// add copies a group and those in it.
func (h *hierarchy) add(r scheduler.Groups, key fwk.EntityKey) error {
	if key.Type == fwk.PodGroupKeyType {
		g, ok := r.PodGroup(key.Namespace, key.Name)
		if !ok {
			return fmt.Errorf("pod group state not found for %s", key)
		}
		h.pods[key] = g
		return nil
	}
	if _, seen := h.composite[key]; seen {
		return fmt.Errorf("cycle detected in composite pod group hierarchy: %s", key)
	}
	c, ok := r.CompositePodGroup(key.Namespace, key.Name)
	if !ok {
		return fmt.Errorf("composite pod group state not found for %s", key)
	}
	h.composite[key] = c
	for _, child := range (compositeGroupState{key.Namespace, c}).GetChildren() {
		if err := h.add(r, child); err != nil {
			return err
		}
	}
	return nil
}

func (h *hierarchy) Object(namespace, name string) (*schedulingv1beta1.PodGroup, bool) {
	g, ok := h.PodGroup(namespace, name)
	return g.Object, ok
}

func (h *hierarchy) PodGroup(namespace, name string) (scheduler.PodGroupView, bool) {
	g, ok := h.pods[fwk.PodGroupKey(namespace, name)]
	return g, ok
}

func (h *hierarchy) CompositePodGroup(namespace, name string) (scheduler.CompositePodGroupView, bool) {
	c, ok := h.composite[fwk.CompositePodGroupKey(namespace, name)]
	return c, ok
}

func (h *hierarchy) HasComposites() bool { return h.composite != nil }

// frozenManager is the PodGroupManager of a hierarchy.
type frozenManager struct{ groupManager }

func (m frozenManager) BuildHierarchySnapshotFromPod(*corev1.Pod) (fwk.PodGroupManager, error) {
	return m, nil
}
