package scheduler

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/queue"
)

// asking has the pods about which extenders are asked. They are asked about one pod at a time, as by kube-scheduler, so that
// an extender hears of a pod only after the pods before it have their nodes. Pods that concern no extender do not wait.
type asking struct {
	plugin  extenders.Plugin
	now     *question          // nil if no extender is being asked
	cancel  context.CancelFunc // ends the calls about now
	waiting []*question
	// open has the questions that have come up in an attempt for a group.
	open    []*question
	answers map[types.UID]*answer // about pods of groups
}

// A question is a pod about which extenders are to be asked.
type question struct {
	*queue.QueuedPodInfo
	pod *corev1.Pod
	// group is the group of a pod that waits in the queue with it; nil for a pod that was taken out of the queue.
	group *queue.QueuedPodInfo
	// nodes are those to ask about. For a pod without a group they are not known until its turn.
	nodes []*corev1.Node
	// verdict has the answers about other nodes, all of which were refused. seen: an event came after the extenders were first asked.
	// Both are of pods without a group.
	verdict extenders.Verdict
	seen    bool
}

// An answer is the verdict of the extenders about a pod, or an error of one of them.
type answer struct {
	pod     *corev1.Pod
	verdict extenders.Verdict
	err     error
}

// of returns the answer about a pod so far, which is empty at first. An answer about another version of the pod does not count.
func (a *asking) of(pod *corev1.Pod) *answer {
	known := a.answers[pod.UID]
	if known == nil || known.pod != pod && !unchangedForScheduling(known.pod, pod) {
		known = &answer{pod: pod}
	}
	return known
}

// add asks about a pod of a group, and about further nodes if it does already.
func (a *asking) add(w *queue.QueuedPodInfo, nodes []*cache.NodeInfo) {
	i := slices.IndexFunc(a.open, func(q *question) bool { return q.QueuedPodInfo == w })
	if i < 0 {
		i = len(a.open)
		a.open = append(a.open, &question{QueuedPodInfo: w, pod: w.PodInfo.Pod})
	}
	q := a.open[i]
	for _, n := range nodes {
		if !slices.Contains(q.nodes, n.Node) {
			q.nodes = append(q.nodes, n.Node)
		}
	}
}

// hasQuestions reports whether questions have come up in the attempt for a group.
func (a *asking) hasQuestions() bool { return len(a.open) > 0 }

// taken returns the pod of a UID if it was taken out of the queue; nil otherwise.
func (a *asking) taken(uid types.UID) *queue.QueuedPodInfo {
	for q := range a.all {
		if q.group == nil && q.pod.UID == uid {
			return q.QueuedPodInfo
		}
	}
	return nil
}

// all calls yield for the questions, the one that is being asked first.
func (a *asking) all(yield func(*question) bool) {
	if a.now != nil && !yield(a.now) {
		return
	}
	for _, q := range a.waiting {
		if !yield(q) {
			return
		}
	}
}

// pods returns the number of the pods.
func (a *asking) pods() (n int) {
	for range a.all {
		n++
	}
	return n
}

// drop forgets the questions that are of no use any more, and returns them.
func (a *asking) drop(useless func(*question) bool) (dropped []*question) {
	if a.now != nil && useless(a.now) {
		a.cancel()
		dropped = append(dropped, a.now)
		a.now = nil
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(q *question) bool {
		drop := useless(q)
		if drop {
			dropped = append(dropped, q)
		}
		return drop
	})
	return dropped
}

// waits reports whether a group waits for an answer.
func (a *asking) waits(group *queue.QueuedPodInfo) bool {
	for q := range a.all {
		if q.group == group {
			return true
		}
	}
	return false
}

// next takes out the waiting question about the pod of the highest priority that has waited longest, or nil.
func (a *asking) next() *question {
	if len(a.waiting) == 0 {
		return nil
	}
	first := 0
	for i, q := range a.waiting {
		if q.PodInfo.Priority > a.waiting[first].PodInfo.Priority {
			first = i
		}
	}
	q := a.waiting[first]
	a.waiting = slices.Delete(a.waiting, first, first+1)
	return q
}
