package schedulerplugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// score is the Score of a plugin.
type score struct{ *plugin }

// PreScore runs the plugin's PreScore. Its Score follows, if it has one and PreScore does not skip it.
func (s score) PreScore(_ *scheduler.Cluster, info *scheduler.PodInfo, fit []*scheduler.NodeInfo) scheduler.NodeScorer {
	if s.cycle.scoreError != nil {
		return nil
	}
	nodes := make([]fwk.NodeInfo, len(fit))
	s.lister.refresh()
	for i, n := range fit {
		nodes[i] = s.lister.of(n)
	}
	if of, has := s.plugin.plugin.(fwk.PreScorePlugin); has && s.on["preScore"] {
		var status *fwk.Status
		if err := guard(func() { status = of.PreScore(s.cycle.ctx, s.cycle.state(), info.Pod, nodes) }); err != nil {
			status = fwk.AsStatus(err)
		}
		if status.IsSkip() {
			return nil
		}
		if !status.IsSuccess() {
			s.failed("running PreScore plugin %q: %w", status)
			return nil
		}
	}
	of, has := s.plugin.plugin.(fwk.ScorePlugin)
	if !has || !s.on["score"] {
		return nil
	}
	return &scorer{score: s, of: of, pod: info.Pod, names: make([]string, 0, len(fit))}
}

func (s score) failed(format string, status *fwk.Status) {
	if s.cycle.scoreError == nil {
		s.cycle.scoreError = fmt.Errorf(format, s.name, status.AsError())
	}
}

// ScoreError returns the error of a score in this attempt.
func (p *profile) ScoreError() error { return p.cycle.scoreError }

// scorer scores the nodes of one attempt.
type scorer struct {
	score
	of    fwk.ScorePlugin
	pod   *corev1.Pod
	names []string // of the nodes scored so far
}

func (s *scorer) Score(n *scheduler.NodeInfo) (points int64) {
	s.names = append(s.names, n.Name)
	if s.cycle.scoreError != nil {
		return 0
	}
	var status *fwk.Status
	if err := guard(func() { points, status = s.of.Score(s.cycle.ctx, s.cycle.state(), s.pod, s.lister.of(n)) }); err != nil {
		status = fwk.AsStatus(err)
	}
	if !status.IsSuccess() {
		s.failed("running Score plugin %q: %w", status)
	}
	return points
}

// NormalizeScores runs the plugin's NormalizeScore, if it has one, and checks the result.
func (s *scorer) NormalizeScores(points []int64) {
	if s.cycle.scoreError != nil {
		return
	}
	if of := s.of.ScoreExtensions(); of != nil {
		list := make(fwk.NodeScoreList, len(points))
		for i, v := range points {
			list[i] = fwk.NodeScore{Name: s.names[i], Score: v}
		}
		var status *fwk.Status
		if err := guard(func() { status = of.NormalizeScore(s.cycle.ctx, s.cycle.state(), s.pod, list) }); err != nil {
			status = fwk.AsStatus(err)
		}
		if !status.IsSuccess() {
			s.failed("running Normalize on Score plugins: plugin %q: %w", status)
			return
		}
		for i := range list {
			points[i] = list[i].Score
		}
	}
	for i, v := range points {
		if v < fwk.MinScore || v > fwk.MaxScore {
			s.cycle.scoreError = fmt.Errorf("plugin %q returns an invalid score %v for node %q, it should in the range of [%v, %v] after normalizing",
				s.name, v, s.names[i], fwk.MinScore, fwk.MaxScore)
			return
		}
	}
}
