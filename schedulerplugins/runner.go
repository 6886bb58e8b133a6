package schedulerplugins

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// changed runs f while the cluster has the pods of a node that a plugin has changed, and returns the node.
func (p *profile) changed(of fwk.NodeInfo, f func(n *scheduler.NodeInfo)) error {
	c := p.lister.cluster
	if c == nil {
		return errors.New("no cluster yet")
	}
	node, ok := of.(*nodeInfo)
	if !ok {
		return errors.New("want a NodeInfo of SnapshotSharedLister, or a copy of one")
	}
	n := c.Node(node.live.Name)
	if n == nil {
		return errors.New("the node is not in the cluster")
	}
	if node.own == nil {
		f(n)
		return nil
	}
	if node.own.node != n.Node {
		return errors.New("the node of a NodeInfo was replaced, which this scheduler cannot simulate")
	}
	type place struct {
		pod  *scheduler.PodInfo
		node string // empty: nowhere
	}
	own := map[types.UID]*scheduler.PodInfo{}
	for pod := range node.pods {
		own[pod.Pod.UID] = pod
	}
	var before []place
	for uid, pod := range n.Pods {
		if own[uid] == nil && pod.Nominee == nil {
			before = append(before, place{pod, n.Name})
		}
	}
	for uid, pod := range own {
		if n.Pods[uid] != nil {
			continue
		}
		was := place{pod: pod}
		if there := c.Assigned(uid); there != nil {
			was = place{there, there.NodeInfo.Name}
		}
		before = append(before, was)
		c.AddPod(pod, n.Name)
	}
	for _, was := range before {
		if was.node == n.Name {
			c.RemovePod(was.pod.Pod.UID)
		}
	}
	defer func() {
		for _, was := range before {
			c.RemovePod(was.pod.Pod.UID)
			if was.node != "" {
				c.AddPod(was.pod, was.node)
			}
		}
	}()
	f(n)
	return nil
}

// RunFilterPlugins runs the filters of the profile, built-in ones included, on a node that the plugin may have changed.
func (h *handle) RunFilterPlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, of fwk.NodeInfo) (s *fwk.Status) {
	info, c := h.podOf(pod), h.lister.cluster
	err := h.changed(of, func(n *scheduler.NodeInfo) {
		for _, f := range h.made.Filters {
			if own, ok := f.(*plugin); ok {
				filter, has := own.plugin.(fwk.FilterPlugin)
				if has && own.on["filter"] && !state.GetSkipFilterPlugins().Has(own.name) {
					s = filter.Filter(ctx, state, pod, of)
				}
			} else {
				check, v := f.PreFilter(c, info)
				if v.IsSuccess() && check != nil {
					v = check(n)
				}
				s = upstreamStatus(v)
			}
			if !s.IsSuccess() {
				s.SetPlugin(f.Name())
				return
			}
		}
	})
	if err != nil {
		return fwk.AsStatus(err)
	}
	return s
}

// RunFilterPluginsWithNominatedPods is RunFilterPlugins with the room held for nominated pods of at least the pod's priority.
func (h *handle) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, of fwk.NodeInfo) *fwk.Status {
	if c := h.lister.cluster; c != nil {
		_, back := c.SetAsideNominated(h.podOf(pod))
		defer back()
	}
	return h.RunFilterPlugins(ctx, state, pod, of)
}

func (h *handle) podOf(pod *corev1.Pod) *scheduler.PodInfo {
	if h.cycle != nil && h.cycle.pod.Pod == pod {
		return h.cycle.pod
	}
	return scheduler.NewPodInfo(pod)
}

func upstreamStatus(v scheduler.Status) *fwk.Status {
	switch {
	case v.IsSuccess():
		return nil
	case v.Failed:
		return fwk.AsStatus(errors.New(v.Reasons[0]))
	case v.Unresolvable:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, v.Reasons...)
	}
	return fwk.NewStatus(fwk.Unschedulable, v.Reasons...)
}

// RunPreScorePlugins runs the PreScore plugins. Those of built-in scores run with their Score.
func (h *handle) RunPreScorePlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	for _, name := range h.order["preScore"] {
		if of := h.plugins[name]; of != nil {
			if s := of.plugin.(fwk.PreScorePlugin).PreScore(ctx, state, pod, nodes); !s.IsSuccess() && !s.IsSkip() {
				return s.WithPlugin(name)
			}
		}
	}
	return nil
}

// RunScorePlugins scores nodes by all scores of the profile.
func (h *handle) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	c := h.lister.cluster
	result, fit := make([]fwk.NodePluginScores, len(nodes)), make([]*scheduler.NodeInfo, len(nodes))
	for i, n := range nodes {
		result[i].Name = n.Node().Name
		if fit[i] = c.Node(result[i].Name); fit[i] == nil {
			return nil, fwk.AsStatus(errors.New("the node is not in the cluster: " + result[i].Name))
		}
	}
	var of scheduler.NodeScorer
	for _, w := range h.made.Scores {
		own, ok := w.Score.(score)
		if ok {
			plugin, has := own.plugin.plugin.(fwk.ScorePlugin)
			if !has || !own.on["score"] || state.GetSkipScorePlugins().Has(own.name) {
				continue
			}
			of = &given{ctx, state, pod, plugin, nodes, 0, nil}
		} else if of = w.PreScore(c, h.podOf(pod), fit); of == nil {
			continue
		}
		points := make([]int64, len(nodes))
		for i, n := range fit {
			points[i] = of.Score(n)
			result[i].RawScores = append(result[i].RawScores, fwk.PluginScore{Name: w.Name(), Score: points[i]})
		}
		of.NormalizeScores(points)
		if g, ok := of.(*given); ok && !g.status.IsSuccess() {
			return nil, g.status.WithPlugin(w.Name())
		}
		for i, v := range points {
			result[i].Scores = append(result[i].Scores, fwk.PluginScore{Name: w.Name(), Score: v * w.Weight})
			result[i].TotalScore += v * w.Weight
		}
	}
	return result, nil
}

// given scores nodes by a plugin with the state that another plugin gives.
type given struct {
	ctx    context.Context
	state  fwk.CycleState
	pod    *corev1.Pod
	of     fwk.ScorePlugin
	nodes  []fwk.NodeInfo
	next   int
	status *fwk.Status // the first that is no success
}

func (g *given) Score(*scheduler.NodeInfo) int64 {
	points, s := g.of.Score(g.ctx, g.state, g.pod, g.nodes[g.next])
	g.next++
	g.keep(s)
	return points
}

func (g *given) NormalizeScores(points []int64) {
	extensions := g.of.ScoreExtensions()
	if extensions == nil || !g.status.IsSuccess() {
		return
	}
	list := make(fwk.NodeScoreList, len(points))
	for i, v := range points {
		list[i] = fwk.NodeScore{Name: g.nodes[i].Node().Name, Score: v}
	}
	g.keep(extensions.NormalizeScore(g.ctx, g.state, g.pod, list))
	for i := range list {
		points[i] = list[i].Score
	}
}

func (g *given) keep(s *fwk.Status) {
	if g.status.IsSuccess() {
		g.status = s
	}
}

// RunPreFilterExtensionAddPod tells the plugins of a pod that is added in a simulation; built-in ones read the changed node.
func (h *handle) RunPreFilterExtensionAddPod(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, added fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	return h.extensions(state, func(e fwk.PreFilterExtensions) *fwk.Status { return e.AddPod(ctx, state, pod, added, n) })
}

// RunPreFilterExtensionRemovePod tells the plugins of a pod that is removed in a simulation.
func (h *handle) RunPreFilterExtensionRemovePod(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, removed fwk.PodInfo, n fwk.NodeInfo) *fwk.Status {
	return h.extensions(state, func(e fwk.PreFilterExtensions) *fwk.Status { return e.RemovePod(ctx, state, pod, removed, n) })
}

func (h *handle) extensions(state fwk.CycleState, f func(fwk.PreFilterExtensions) *fwk.Status) *fwk.Status {
	for _, name := range h.order["preFilter"] {
		of := h.plugins[name]
		if of == nil || state.GetSkipFilterPlugins().Has(name) {
			continue
		}
		if e := of.plugin.(fwk.PreFilterPlugin).PreFilterExtensions(); e != nil {
			if s := f(e); !s.IsSuccess() {
				return s.WithPlugin(name)
			}
		}
	}
	return nil
}

func (h *handle) RunReservePluginsReserve(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	panic(missing("RunReservePluginsReserve"))
}

func (h *handle) RunReservePluginsUnreserve(context.Context, fwk.CycleState, *corev1.Pod, string) {
	panic(missing("RunReservePluginsUnreserve"))
}
