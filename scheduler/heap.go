package scheduler

import (
	"container/heap"
)

// waitHeap is a heap of pods that know where they are.
type waitHeap struct {
	pods []*waiting
	less func(a, b *waiting) bool
}

func (h *waitHeap) Len() int           { return len(h.pods) }
func (h *waitHeap) Less(i, j int) bool { return h.less(h.pods[i], h.pods[j]) }
func (h *waitHeap) push(w *waiting)    { heap.Push(h, w) }

func (h *waitHeap) Swap(i, j int) {
	h.pods[i], h.pods[j] = h.pods[j], h.pods[i]
	h.pods[i].index, h.pods[j].index = i, j
}

// Push is heap.Interface's; use push.
func (h *waitHeap) Push(x any) {
	w := x.(*waiting)
	w.in, w.index = h, len(h.pods)
	h.pods = append(h.pods, w)
}

// Pop is heap.Interface's; use heap.Pop.
func (h *waitHeap) Pop() any {
	last := len(h.pods) - 1
	w := h.pods[last]
	h.pods[last], h.pods = nil, h.pods[:last]
	w.in = nil
	return w
}
