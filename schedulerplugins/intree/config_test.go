package intree

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	conversionv1 "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"

	"fairlead.dev/scheduler"
)

// idle are the default plugins of kube-scheduler that have no effect in this scheduler, and so are not among its defaults.
var idle = []string{"DeferredPodScheduling", "GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"}

// The configuration with all defaults is kube-scheduler's, which reads and accepts it.
func TestDefaultConfiguration(t *testing.T) {
	text, err := scheduler.CompleteConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	read, _, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validation.ValidateKubeSchedulerConfiguration(read.(*config.KubeSchedulerConfiguration)); err != nil {
		t.Error(err)
	}
	theirs, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	want := &configv1.KubeSchedulerConfiguration{}
	if err := conversionv1.Convert_config_KubeSchedulerConfiguration_To_v1_KubeSchedulerConfiguration(theirs, want, nil); err != nil {
		t.Fatal(err)
	}
	want.SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind("KubeSchedulerConfiguration"))
	of := &want.Profiles[0].Plugins.MultiPoint
	of.Enabled = slices.DeleteFunc(of.Enabled, func(p configv1.Plugin) bool { return slices.Contains(idle, p.Name) })
	if diff := cmp.Diff(tree(t, want), tree(t, json.RawMessage(text))); diff != "" {
		t.Errorf("kube-scheduler's defaults (-) and ours (+):\n%s", diff)
	}
}

func tree(t *testing.T, v any) (of any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	return of
}

// A configuration may name each of kube-scheduler's plugins.
func TestNames(t *testing.T) {
	for name := range plugins.NewInTreeRegistry() {
		if !scheduler.IsBuiltIn(name) {
			t.Errorf("%s is not known", name)
		}
	}
}
