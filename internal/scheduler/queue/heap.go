package queue

import (
	"container/heap"

	"fairlead.dev/internal/scheduler/metrics"
)

// podHeap is a heap of pods that know their index.
type podHeap struct {
	pods []*QueuedPodInfo
	size int // the pods, with each group's members for the group
	// groups is how many of the entries are groups.
	groups int
	less   func(a, b *QueuedPodInfo) bool
}

func (h *podHeap) Len() int              { return len(h.pods) }
func (h *podHeap) Less(i, j int) bool    { return h.less(h.pods[i], h.pods[j]) }
func (h *podHeap) push(w *QueuedPodInfo) { heap.Push(h, w) }

func (h *podHeap) Swap(i, j int) {
	h.pods[i], h.pods[j] = h.pods[j], h.pods[i]
	h.pods[i].index, h.pods[j].index = i, j
}

// Push is heap.Interface's; use push.
func (h *podHeap) Push(x any) {
	w := x.(*QueuedPodInfo)
	w.heap, w.index = h, len(h.pods)
	h.size += w.size()
	if w.Group != nil {
		h.groups++
	}
	h.pods = append(h.pods, w)
}

// Pop is heap.Interface's; use heap.Pop.
func (h *podHeap) Pop() any {
	last := len(h.pods) - 1
	w := h.pods[last]
	h.pods[last], h.pods = nil, h.pods[:last]
	w.heap = nil
	h.size -= w.size()
	if w.Group != nil {
		h.groups--
	}
	return w
}

func (h *podHeap) sizes() metrics.Size {
	return metrics.Size{Pods: h.size, Groups: h.groups, Alone: len(h.pods) - h.groups}
}
