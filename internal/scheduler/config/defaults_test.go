package config

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"
)

// What Complete writes is a configuration again, of the same plugins.
func TestComplete(t *testing.T) {
	for _, text := range []string{"", `
profiles:
- plugins:
    multiPoint: {disabled: [{name: ImageLocality}], enabled: [{name: NodeAffinity, weight: 7}, {name: GangScheduling}]}
    score: {disabled: [{name: TaintToleration}]}
  pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 5}}, {name: GangScheduling, args: {}}]`} {
		first, err := Load([]byte(header+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Complete([]byte(header + text))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(raw, nil)
		if err != nil {
			t.Fatalf("%v of %s", err, raw)
		}
		if got, want := describe(again.Profiles[0]), describe(first.Profiles[0]); got != want {
			t.Errorf("plugins:\n got %s\nwant %s", got, want)
		}
		twice, err := Complete(raw)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(twice); err != nil || string(second) != string(raw) {
			t.Errorf("completed again: %v\n got %s\nwant %s", err, second, raw)
		}
	}
}

// The plugins are those that kube-scheduler 1.37.2 --write-config-to writes, without the ones that have no effect here.
func TestDefaultDocument(t *testing.T) {
	c, err := Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(c.Profiles[0].Plugins.MultiPoint)
	if err != nil {
		t.Fatal(err)
	}
	const want = `enabled:
- name: SchedulingGates
  weight: 0
- name: PrioritySort
  weight: 0
- name: NodeName
  weight: 0
- name: NodeUnschedulable
  weight: 0
- name: TaintToleration
  weight: 3
- name: NodeAffinity
  weight: 2
- name: NodePorts
  weight: 0
- name: NodeResourcesFit
  weight: 1
- name: VolumeRestrictions
  weight: 0
- name: NodeVolumeLimits
  weight: 0
- name: VolumeBinding
  weight: 0
- name: VolumeZone
  weight: 0
- name: PodTopologySpread
  weight: 2
- name: InterPodAffinity
  weight: 2
- name: DynamicResources
  weight: 2
- name: DefaultPreemption
  weight: 0
- name: NodeResourcesBalancedAllocation
  weight: 1
- name: ImageLocality
  weight: 1
- name: DefaultBinder
  weight: 0
- name: NodeDeclaredFeatures
  weight: 0
`
	if string(text) != want {
		t.Errorf("got\n%s", text)
	}
}

// Plugins and settings without effect are told of, once for all profiles.
func TestNotes(t *testing.T) {
	o, err := Load([]byte(header+`
parallelism: 16
delayCacheUntilActive: true
profiles:
- schedulerName: a
  plugins: {multiPoint: {enabled: [{name: DeferredPodScheduling}, {name: PodGroupPodsCount}]}, placementGenerate: {enabled: [{name: TopologyPlacementGenerator}]}}
- schedulerName: b
  plugins: {multiPoint: {enabled: [{name: DeferredPodScheduling}]}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plugins without effect in this scheduler: DeferredPodScheduling, PodGroupPodsCount, TopologyPlacementGenerator",
		"settings without effect in this scheduler: parallelism, delayCacheUntilActive",
	}
	if len(o.Notes) != 2 || o.Notes[0] != want[0] || o.Notes[1] != want[1] {
		t.Errorf("notes %q, want %q", o.Notes, want)
	}
}
