package schedulerplugins

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// The lists of pod groups, which read the scheduler's model.
type (
	podGroups           struct{ *registry }
	podGroupStates      struct{ *registry }
	compositeGroups     struct{ *registry }
	compositeStates     struct{ *registry }
	podGroupState       struct{ scheduler.PodGroupView }
	compositeGroupState struct {
		namespace string
		scheduler.CompositePodGroupView
	}
)

var (
	_ fwk.PodGroupState          = podGroupState{}
	_ fwk.CompositePodGroupState = compositeGroupState{}
)

func (l podGroups) Get(namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	if a := l.attached.Load(); a != nil {
		if g, ok := a.PodGroup(namespace, name); ok && g.Object != nil {
			return g.Object, nil
		}
	}
	return nil, fmt.Errorf("pod group %s/%s not found", namespace, name)
}

func (l podGroupStates) Get(namespace, name string) (fwk.PodGroupState, error) {
	if a := l.attached.Load(); a != nil {
		if g, ok := a.PodGroup(namespace, name); ok {
			return podGroupState{g}, nil
		}
	}
	return nil, fmt.Errorf("pod group state not found for pod group %s/%s", namespace, name)
}

func (l compositeGroups) Get(namespace, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
	if a := l.attached.Load(); a != nil {
		if c, ok := a.CompositePodGroup(namespace, name); ok && c.Object != nil {
			return c.Object, nil
		}
	}
	return nil, fmt.Errorf("composite pod group %s/%s not found", namespace, name)
}

func (l compositeStates) Get(namespace, name string) (fwk.CompositePodGroupState, error) {
	if a := l.attached.Load(); a != nil {
		if c, ok := a.CompositePodGroup(namespace, name); ok {
			return compositeGroupState{namespace, c}, nil
		}
	}
	return nil, fmt.Errorf("composite pod group state not found for pod group %s/%s", namespace, name)
}

func (s podGroupState) AllPods() sets.Set[types.UID] {
	return uids(s.Unscheduled).Union(uids(s.Assumed)).Union(uids(s.Assigned))
}

func (s podGroupState) AllPodsCount() int {
	return len(s.Unscheduled) + s.ScheduledPodsCount()
}

// UnscheduledPods returns the pods by their names.
func (s podGroupState) UnscheduledPods() map[string]*corev1.Pod {
	byName := map[string]*corev1.Pod{}
	for _, p := range s.Unscheduled {
		byName[p.Name] = p
	}
	return byName
}

func (s podGroupState) AssumedPods() sets.Set[types.UID]  { return uids(s.Assumed) }
func (s podGroupState) AssignedPods() sets.Set[types.UID] { return uids(s.Assigned) }
func (s podGroupState) ScheduledPods() []*corev1.Pod      { return slices.Concat(s.Assigned, s.Assumed) }
func (s podGroupState) ScheduledPodsCount() int           { return len(s.Assigned) + len(s.Assumed) }

func (s compositeGroupState) GetChildren() (keys []fwk.EntityKey) {
	for _, name := range s.PodGroups {
		keys = append(keys, fwk.PodGroupKey(s.namespace, name))
	}
	for _, name := range s.CompositePodGroups {
		keys = append(keys, fwk.CompositePodGroupKey(s.namespace, name))
	}
	return keys
}

func uids(pods []*corev1.Pod) sets.Set[types.UID] {
	set := sets.New[types.UID]()
	for _, p := range pods {
		set.Insert(p.UID)
	}
	return set
}
