package schedulerplugins_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// asking is a plugin that calls a method which Handle lacks here, at the point after which its pod is named.
type asking struct{ handle fwk.Handle }

func (*asking) Name() string { return "Asking" }

func (a *asking) at(point string, pod *corev1.Pod) {
	if pod.Name == point {
		a.handle.SharedDRAManager()
	}
}

func (*asking) Reserve(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status { return nil }

func (a *asking) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	a.at("bind", pod) // whose binding has failed
}

func (a *asking) Bind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) *fwk.Status {
	a.at("bind", pod)
	return fwk.NewStatus(fwk.Skip)
}

func (a *asking) PostBind(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	a.at("post-bind", pod)
}

// A plugin that calls a missing method when a pod is bound, or is not, does not end the scheduler.
func TestMissingAtBinding(t *testing.T) {
	c := start(t, 1, `
profiles:
- plugins:
    multiPoint: {enabled: [{name: Asking}]}
    bind: {enabled: [{name: Asking}, {name: DefaultBinder}], disabled: [{name: "*"}]}`, schedulerplugins.WithPlugin("Asking",
		func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) { return &asking{h}, nil }))
	c.pod("bind")
	c.held("bind", "it calls Handle.SharedDRAManager, which this scheduler does not have")
	c.pod("post-bind")
	c.bound("post-bind")
	c.pod("other")
	c.bound("other")
}
