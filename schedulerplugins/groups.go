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

// groups calls a function with the pod groups. It does not while there is no scheduler.
type groups func(func(scheduler.Groups))

// The lists of pod groups.
type (
	podGroups           struct{ groups }
	podGroupStates      struct{ groups }
	compositeGroups     struct{ groups }
	compositeStates     struct{ groups }
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

// groupsInAttempt reads the groups as the attempt in progress has them.
func (r *registry) groupsInAttempt(f func(scheduler.Groups)) {
	if a := r.attachment(); a != nil {
		f(a.GroupsInAttempt())
	}
}

// groups reads the groups on any goroutine.
func (r *registry) groups(f func(scheduler.Groups)) {
	if a := r.attachment(); a != nil {
		a.Groups(f)
	}
}

func (l podGroups) Get(namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	var found *schedulingv1beta1.PodGroup
	l.groups(func(r scheduler.Groups) { found, _ = r.Object(namespace, name) })
	if found == nil {
		return nil, fmt.Errorf("pod group %s/%s not found", namespace, name)
	}
	return found, nil
}

func (l podGroupStates) Get(namespace, name string) (fwk.PodGroupState, error) {
	var found fwk.PodGroupState
	l.groups(func(r scheduler.Groups) {
		if g, ok := r.PodGroup(namespace, name); ok {
			found = podGroupState{g}
		}
	})
	if found == nil {
		return nil, fmt.Errorf("pod group state not found for pod group %s/%s", namespace, name)
	}
	return found, nil
}

func (l compositeGroups) Get(namespace, name string) (*schedulingv1alpha3.CompositePodGroup, error) {
	var found *schedulingv1alpha3.CompositePodGroup
	l.groups(func(r scheduler.Groups) {
		c, _ := r.CompositePodGroup(namespace, name)
		found = c.Object
	})
	if found == nil {
		return nil, fmt.Errorf("composite pod group %s/%s not found", namespace, name)
	}
	return found, nil
}

func (l compositeStates) Get(namespace, name string) (fwk.CompositePodGroupState, error) {
	var found fwk.CompositePodGroupState
	l.groups(func(r scheduler.Groups) {
		if c, ok := r.CompositePodGroup(namespace, name); ok {
			found = compositeGroupState{namespace, c}
		}
	})
	if found == nil {
		return nil, fmt.Errorf("composite pod group state not found for pod group %s/%s", namespace, name)
	}
	return found, nil
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
