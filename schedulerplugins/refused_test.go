package schedulerplugins_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// plain is a plugin whose filter is a function.
type plain func(pod *corev1.Pod, n fwk.NodeInfo) *fwk.Status

func (plain) Name() string { return "Plain" }
func (f plain) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, n fwk.NodeInfo) *fwk.Status {
	return f(pod, n)
}

func TestRefused(t *testing.T) {
	calling := func(f func(fwk.Handle)) schedulerplugins.Factory {
		return func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			f(h)
			return plain(nil), nil
		}
	}
	fine := calling(func(fwk.Handle) {})
	for name, tc := range map[string]struct {
		configuration string
		options       []schedulerplugins.Option
		want          string
	}{
		"unknown": {
			"profiles: [{plugins: {filter: {enabled: [{name: Plain}]}}}]", nil,
			`filter plugin "Plain" does not exist`,
		},
		"a point that it lacks": {
			"profiles: [{plugins: {permit: {enabled: [{name: Plain}]}}}]", []schedulerplugins.Option{schedulerplugins.WithPlugin("Plain", fine)},
			`plugin "Plain" does not extend permit plugin`,
		},
		"bad arguments": {
			"profiles: [{plugins: {multiPoint: {enabled: [{name: Rank}]}}, pluginConfig: [{name: Rank, args: {}}]}]",
			[]schedulerplugins.Option{schedulerplugins.WithPlugin("Rank", newRank)},
			`initializing plugin "Rank": args: label: required`,
		},
		"a built-in name": {
			"", []schedulerplugins.Option{schedulerplugins.WithPlugin("NodeName", fine)},
			"a plugin named NodeName already exists",
		},
		"twice": {
			"", []schedulerplugins.Option{schedulerplugins.WithPlugin("Plain", fine), schedulerplugins.WithPlugin("Plain", fine)},
			"a plugin named Plain already exists",
		},
		"two orders of the queue": {
			"profiles: [{plugins: {multiPoint: {enabled: [{name: Tracer}]}}}]",
			[]schedulerplugins.Option{schedulerplugins.WithPlugin("Tracer", new(tracer).factory)},
			"only one queue sort plugin required",
		},
		"a method that is missing": {
			"profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]",
			[]schedulerplugins.Option{schedulerplugins.WithPlugin("Plain", calling(func(h fwk.Handle) { h.SharedDRAManager() }))},
			`initializing plugin "Plain": it calls Handle.SharedDRAManager, which this scheduler does not have`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := schedulerplugins.Run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, []byte(header+tc.configuration), tc.options...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// A plugin that calls a missing method later fails for its pod, by the name of the method; others go on.
func TestMissingLater(t *testing.T) {
	c := start(t, 1, "profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]", schedulerplugins.WithPlugin("Plain",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			return plain(func(pod *corev1.Pod, _ fwk.NodeInfo) *fwk.Status {
				if pod.Name == "asks" {
					h.SharedDRAManager()
				}
				return nil
			}), nil
		}))
	c.pod("asks")
	c.held("asks", `running "Plain" filter plugin: it calls Handle.SharedDRAManager, which this scheduler does not have`)
	c.pod("other")
	c.bound("other")
}

// preemptor evicts all pods of a node on which its pod would fit without them: a PostFilter that simulates.
type preemptor struct{ handle fwk.Handle }

func (*preemptor) Name() string { return "Preemptor" }

func (p *preemptor) PostFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, of fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	nodes, err := of.NodesForStatusCode(p.handle.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	for _, n := range nodes {
		if p.handle.RunFilterPluginsWithNominatedPods(ctx, state, pod, n).IsSuccess() {
			return nil, fwk.NewStatus(fwk.Error, "the pod fits with all pods there")
		}
		without := n.Snapshot()
		victims := without.GetPods()
		for _, v := range victims {
			if err := without.RemovePod(klogger, v.GetPod()); err != nil {
				return nil, fwk.AsStatus(err)
			}
		}
		if !p.handle.RunFilterPluginsWithNominatedPods(ctx, state, pod, without).IsSuccess() {
			continue
		}
		if len(n.GetPods()) != len(victims) {
			return nil, fwk.NewStatus(fwk.Error, "the simulation has changed the cluster")
		}
		go func() {
			for _, v := range victims {
				deleteNow(p.handle, v.GetPod())
			}
		}()
		return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatedNodeName: n.Node().Name, NominatingMode: fwk.ModeOverride}}, nil
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, "no node helps")
}

// A PostFilter simulates evictions with the built-in filters, and nominates a node.
func TestPostFilter(t *testing.T) {
	c := start(t, 1, `
profiles:
- plugins:
    postFilter: {enabled: [{name: Preemptor}], disabled: [{name: DefaultPreemption}]}`, schedulerplugins.WithPlugin("Preemptor",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) { return &preemptor{h}, nil }))
	most := c.mostCPU("node-1")
	c.pod("first", requesting(most))
	c.bound("first")
	c.pod("second", requesting(most))
	p := c.get("second", "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	if p.Spec.NodeName != "node-1" {
		t.Errorf("second on %s", p.Spec.NodeName)
	}
	c.pod("huge", requesting("100000"))
	c.held("huge", "Insufficient cpu. no node helps")
}
