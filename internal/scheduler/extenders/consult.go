package extenders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"fairlead.dev/internal/scheduler/framework"
)

// scoreScale brings an extender's scores, of 0 to 10, to those of plugins.
const scoreScale = 100 / extenderv1.MaxExtenderPriority

// Consult asks extenders about a pod and its feasible nodes: the filters one after the other, about the nodes that those before
// have left, and then all scores at once. The extenders are those that are interested in the pod.
func Consult(ctx context.Context, all []*Extender, pod *corev1.Pod, nodes []*corev1.Node, log *slog.Logger) (*Verdict, error) {
	v := &Verdict{statuses: map[string]framework.Status{}, scores: map[string]int64{}}
	for _, n := range nodes {
		v.statuses[n.Name] = framework.Status{}
	}
	for _, e := range all {
		if e.FilterVerb == "" || len(nodes) == 0 {
			continue
		}
		left, err := e.filter(ctx, pod, nodes, v)
		switch {
		case err == nil:
			nodes = left
		case !e.Ignores(err, pod, log):
			return nil, err
		}
	}
	if len(nodes) > 1 {
		v.score(ctx, all, pod, nodes, log)
	}
	return v, nil
}

// filter returns the nodes that the extender leaves, and enters its reasons against the others into the verdict.
func (e *Extender) filter(ctx context.Context, pod *corev1.Pod, nodes []*corev1.Node, v *Verdict) (left []*corev1.Node, err error) {
	var answer extenderv1.ExtenderFilterResult
	if err := e.call(ctx, e.FilterVerb, e.question(pod, nodes), &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	var names []string
	switch {
	case e.NodeCacheCapable && answer.NodeNames != nil:
		names = *answer.NodeNames
	case answer.Nodes != nil:
		for i := range answer.Nodes.Items {
			names = append(names, answer.Nodes.Items[i].Name)
		}
	}
	asked := map[string]*corev1.Node{}
	for _, n := range nodes {
		asked[n.Name] = n
	}
	for _, name := range names {
		n := asked[name]
		if n == nil {
			return nil, fmt.Errorf("extender %q claims a filtered node %q which is not found in the input node list", e.URLPrefix, name)
		}
		left = append(left, n)
		delete(asked, name)
	}
	for name := range asked {
		if reason, final := answer.FailedAndUnresolvableNodes[name]; final {
			v.statuses[name] = framework.Unresolvable(reason)
		} else if reason, given := answer.FailedNodes[name]; given {
			v.statuses[name] = framework.Unschedulable(reason)
		} else {
			v.statuses[name] = framework.Unschedulable(fmt.Sprintf("node(s) were rejected by the extender %s", e.URLPrefix))
		}
	}
	return left, nil
}

// question returns the arguments of the verbs filter and prioritize.
func (e *Extender) question(pod *corev1.Pod, nodes []*corev1.Node) *extenderv1.ExtenderArgs {
	args := &extenderv1.ExtenderArgs{Pod: pod}
	if e.NodeCacheCapable {
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = n.Name
		}
		args.NodeNames = &names
		return args
	}
	args.Nodes = &corev1.NodeList{Items: make([]corev1.Node, len(nodes))}
	for i, n := range nodes {
		args.Nodes.Items[i] = *n
	}
	return args
}

// score adds up the scores of the extenders. One that fails gives none.
func (v *Verdict) score(ctx context.Context, all []*Extender, pod *corev1.Pod, nodes []*corev1.Node, log *slog.Logger) {
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, e := range all {
		if e.PrioritizeVerb == "" {
			continue
		}
		asked.Go(func() {
			var answer extenderv1.HostPriorityList
			if err := e.call(ctx, e.PrioritizeVerb, e.question(pod, nodes), &answer); err != nil {
				log.Warn("an extender of the scheduler gives no scores", "extender", e.URLPrefix, "pod", pod.Namespace+"/"+pod.Name, "error", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, h := range answer {
				v.scores[h.Host] += h.Score * e.Weight * scoreScale
			}
		})
	}
	asked.Wait()
}
