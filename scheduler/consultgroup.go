package scheduler

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// choose chooses the node of a member in an attempt for its group. If extenders have to be asked about the nodes that are feasible for
// it, it adds the question, and chooses as if they left all these nodes, to find the questions about the other members.
func (s *loop) choose(w *queue.QueuedPodInfo) (*cache.NodeInfo, error) {
	profile, ask := s.profileOf(w), &s.asking
	if len(s.interested(w.PodInfo.Pod)) == 0 {
		return profile.Place(s.cluster, w.PodInfo)
	}
	known := ask.of(w.PodInfo.Pod)
	defer func() { ask.plugin = extenders.Plugin{} }()
	ask.plugin.Verdict = &known.verdict
	n, err := profile.Place(s.cluster, w.PodInfo)
	if !isStale(err) {
		return n, err
	}
	ask.plugin.Open = true
	n, err = profile.Place(s.cluster, w.PodInfo)
	if err != nil {
		return nil, err
	}
	ask.add(w, profile.Choices())
	return n, known.err
}

// askAboutGroup asks the extenders the questions that have come up in an attempt for a group, and parks the group until they have
// answered. The attempt is repeated then.
func (s *loop) askAboutGroup(ctx context.Context, e *queue.QueuedPodInfo) {
	s.queue.Park(e, s.profileOf(e.Group.Members[0]).Filters)
	asked := s.asking.open
	s.asking.open = nil
	for _, q := range asked {
		q.group = e
		s.dropQuestions(func(old *question) bool { return old.pod.UID == q.pod.UID })
	}
	s.asking.waiting = append(s.asking.waiting, asked...)
	s.askNext(ctx)
}

// endGroupAttempt forgets the answers about the pods of a group: the next attempt asks anew. It reports whether an event came after the
// extenders were asked, for one of the filters that have rejected the group.
func (s *loop) endGroupAttempt(e *queue.QueuedPodInfo, by ...framework.Filter) (seen bool) {
	s.asking.open = nil
	for _, w := range e.Group.Members {
		delete(s.asking.answers, w.PodInfo.Pod.UID)
	}
	return s.queue.Unwatch(e, by...)
}

// answered keeps an answer about a pod of a group. After an error, with which the attempt fails, there are no further questions.
func (s *loop) answered(q *question, v *extenders.Verdict, err error) {
	a := s.asking.of(q.pod)
	if a.err = err; err == nil {
		a.verdict.Add(v)
	}
	if s.asking.answers == nil {
		s.asking.answers = map[types.UID]*answer{}
	}
	s.asking.answers[q.pod.UID] = a
	if err != nil {
		s.dropQuestions(func(other *question) bool { return other.group == q.group })
	}
	s.goOn(q.group)
}

// dropQuestions forgets questions that are of no use any more. A group that has waited for their answers alone is tried.
func (s *loop) dropQuestions(useless func(*question) bool) {
	for _, q := range s.asking.drop(useless) {
		if q.group != nil {
			s.goOn(q.group)
		}
	}
}

// goOn goes on with the attempt for a group when there are answers to all questions.
func (s *loop) goOn(e *queue.QueuedPodInfo) {
	if !s.asking.waits(e) {
		s.queue.Unpark(e)
	}
}
