package eviction

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/quota"
)

// Usage is an amount of each resource: bytes of memory and of ephemeral storage, and processes.
type Usage struct{ Memory, Storage, Processes int64 }

// Add adds another usage.
func (u *Usage) Add(o Usage) {
	u.Memory, u.Storage, u.Processes = u.Memory+o.Memory, u.Storage+o.Storage, u.Processes+o.Processes
}

func (u Usage) of(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceMemory:
		return u.Memory
	case corev1.ResourceEphemeralStorage:
		return u.Storage
	}
	return u.Processes
}

// Pod is a pod that runs, with the usage of its running containers.
type Pod struct {
	*corev1.Pod
	Containers []Container
	EmptyDirs  map[string]int64 // the bytes in its emptyDir volumes, by name
}

// Container is the usage of a container.
type Container struct {
	Name string
	Usage
}

// Uses returns the usage of all containers.
func (p *Pod) Uses() (sum Usage) {
	for _, c := range p.Containers {
		sum.Add(c.Usage)
	}
	sum.Storage += p.VolumesOnDisk()
	return sum
}

// VolumesOnDisk returns the bytes in emptyDir volumes that are not in memory.
func (p *Pod) VolumesOnDisk() (sum int64) {
	for i := range p.Spec.Volumes {
		if v := &p.Spec.Volumes[i]; v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault {
			sum += p.EmptyDirs[v.Name]
		}
	}
	return sum
}

// Rank sorts pods in the order in which they end for a threshold: first those that use more than they request, of
// these the ones of lower priority, of these the one with the largest usage above its request. Processes are not
// requested, so priority decides first. The first of the order that CanEnd is the one to end.
func Rank(t Threshold, pods []*Pod) {
	name := t.Signal.Resource()
	type key struct {
		exceeds  bool
		priority int32
		surplus  int64
	}
	keys := map[*Pod]key{}
	for _, p := range pods {
		request := quota.Sum{Overhead: true}.Requests(p.Pod)[name]
		surplus := p.Uses().of(name) - request.Value()
		keys[p] = key{surplus > 0 && name != pids, ptr.Deref(p.Spec.Priority, 0), surplus}
	}
	slices.SortStableFunc(pods, func(p, q *Pod) int {
		a, b := keys[p], keys[q]
		switch {
		case a.exceeds != b.exceeds && a.exceeds:
			return -1
		case a.exceeds != b.exceeds:
			return 1
		}
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.surplus, a.surplus), cmp.Compare(p.UID, q.UID))
	})
}
