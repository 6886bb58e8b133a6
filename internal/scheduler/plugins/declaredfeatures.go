package plugins

import (
	"k8s.io/apimachinery/pkg/util/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// kubernetes is the version whose nodes have the features that no longer need to be declared.
var kubernetes = version.MajorMinor(1, 37)

// declaredFeatures keeps a pod off nodes that do not declare the features it needs (KEP-5328).
type declaredFeatures struct{}

func (declaredFeatures) Name() string { return "NodeDeclaredFeatures" }

func (declaredFeatures) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	needs, err := featuresOf(p)
	if err != nil {
		return nil, framework.Unresolvable(err.Error())
	}
	if needs.IsEmpty() {
		return nil, success
	}
	rejected := framework.Unresolvable("node(s) didn't match Pod's required features")
	return func(n *cache.NodeInfo) framework.Status {
		if !declares(n, needs) {
			return rejected
		}
		return success
	}, success
}

func (declaredFeatures) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}

func (declaredFeatures) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	needs, err := featuresOf(p)
	return err == nil && declares(e.Node, needs)
}

func featuresOf(p *cache.PodInfo) (ndf.FeatureSet, error) {
	return ndf.DefaultFramework.InferForPodScheduling(&ndf.PodInfo{Spec: &p.Pod.Spec}, kubernetes)
}

// declares reports whether a node declares all of the features.
func declares(n *cache.NodeInfo, needs ndf.FeatureSet) bool {
	all, err := needs.IsSubset(ndf.DefaultFramework.TryMap(n.Node.Status.DeclaredFeatures))
	return err == nil && all
}
