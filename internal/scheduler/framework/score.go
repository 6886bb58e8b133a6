package framework

import "fairlead.dev/internal/scheduler/cache"

// A Score rates feasible nodes.
type Score interface {
	Name() string
	// PreScore examines the pod and the feasible nodes once. It returns nil if all nodes are equal.
	PreScore(c *cache.Cluster, p *cache.PodInfo, fit []*cache.NodeInfo) NodeScorer
}

// A NodeScorer scores nodes; higher is better.
type NodeScorer interface {
	Score(n *cache.NodeInfo) int64
	// NormalizeScores maps the scores of all nodes to 0..100, in place.
	NormalizeScores(points []int64)
}

// A ScoreFunc is a NodeScorer whose scores are in 0..100 already.
type ScoreFunc func(n *cache.NodeInfo) int64

// Score calls the function.
func (r ScoreFunc) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores does not change the scores.
func (r ScoreFunc) NormalizeScores([]int64) {}

// A NormalizedScore is a NodeScorer scaled so that the highest score becomes 100.
type NormalizedScore func(n *cache.NodeInfo) int64

// Score calls the function.
func (r NormalizedScore) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores makes the highest score 100.
func (r NormalizedScore) NormalizeScores(points []int64) {
	if top := highest(points); top > 0 {
		for i := range points {
			points[i] = 100 * points[i] / top
		}
	}
}

// A ReversedScore is a NodeScorer scaled so that the highest score becomes 0, and a score of 0
// becomes 100.
type ReversedScore func(n *cache.NodeInfo) int64

// Score calls the function.
func (r ReversedScore) Score(n *cache.NodeInfo) int64 { return r(n) }

// NormalizeScores makes the highest score 0, and 0 becomes 100.
func (r ReversedScore) NormalizeScores(points []int64) {
	top := highest(points)
	for i := range points {
		if top == 0 {
			points[i] = 100
		} else {
			points[i] = 100 - 100*points[i]/top
		}
	}
}

func highest(points []int64) int64 {
	var top int64
	for _, v := range points {
		top = max(top, v)
	}
	return top
}

// A WeightedScore is a Score and its weight.
type WeightedScore struct {
	Score
	Weight int64
}
