package schedulerplugins

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// less orders the queue by a QueueSort plugin.
func (p *plugin) less(a, b *scheduler.QueuedPodInfo) bool {
	return p.plugin.(fwk.QueueSortPlugin).Less(queued{a}, queued{b})
}

// queued is a pod or a group in the queue as plugins see it. Like kube-scheduler's, it has the methods GetPod and GetPodInfo too.
type queued struct{ *scheduler.QueuedPodInfo }

var _ fwk.QueuedEntityInfo = queued{}

// Type tells a pod from a group, whose GetPod has the name of the group and the priority of its first pod.
func (q queued) Type() fwk.EntityKeyType {
	switch {
	case q.Group == nil:
		return fwk.PodKeyType
	case q.Group.Composite():
		return fwk.CompositePodGroupKeyType
	}
	return fwk.PodGroupKeyType
}

func (q queued) GetPod() *corev1.Pod             { return q.PodInfo.Pod }
func (q queued) GetPodInfo() fwk.PodInfo         { return podInfo{q.PodInfo} }
func (q queued) GetPriority() int32              { return q.PodInfo.Priority }
func (q queued) GetTimestamp() time.Time         { return q.Added() }
func (q queued) GetAttempts() int                { return q.Attempts }
func (q queued) GetBackoffExpiration() time.Time { return q.BackoffUntil() }
func (q queued) GetUnschedulableCount() int      { return q.Attempts }
func (q queued) GetConsecutiveErrorsCount() int  { return 0 }

func (q queued) GetInitialAttemptTimestamp() *time.Time {
	first := q.First
	if first.IsZero() {
		first = q.Added()
	}
	return &first
}

func (q queued) GetUnschedulablePlugins() sets.Set[string] {
	names := sets.New[string]()
	for _, f := range q.RejectedBy() {
		if f != nil {
			names.Insert(f.Name())
		}
	}
	return names
}

func (q queued) GetPendingPlugins() sets.Set[string] { return sets.New[string]() }

func (q queued) GetGatingPlugin() string {
	if by := q.GatedBy(); by != nil {
		return by.Name()
	}
	return ""
}

func (q queued) GetGatingPluginEvents() (all []fwk.ClusterEvent) {
	if by, ok := q.GatedBy().(*plugin); ok {
		for _, e := range by.events {
			all = append(all, e.Event)
		}
	}
	return all
}
