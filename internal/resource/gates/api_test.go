package gates

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// at returns the API of a version of Kubernetes.
func at(t *testing.T, v string) API {
	t.Helper()
	effective := compatibility.NewEffectiveVersionFromString(Newest, Oldest, Oldest)
	effective.SetEmulationVersion(version.MustParse(v))
	all, err := New(effective.EmulationVersion())
	if err != nil {
		t.Fatal(err)
	}
	return API{Version: effective, Gates: all}
}

// TestNewest compares the defaults of an API without gates with those of the newest version.
func TestNewest(t *testing.T) {
	api := at(t, Newest)
	for name := range api.Gates.DeepCopy().GetAllVersioned() {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		if got, want := (API{}).Enabled(string(name)), api.Gates.Enabled(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

// TestTableAgreesWithGates finds each gate of the tables among the gates: those of laterFields are off in the newest
// version, the others are on there and off in the oldest.
func TestTableAgreesWithGates(t *testing.T) {
	oldest, newest := at(t, Oldest), at(t, Newest)
	for _, f := range laterFields {
		if newest.Enabled(f.gate) {
			t.Errorf("%s is on", f.gate)
		}
	}
	var earlier []string
	for _, f := range earlierFields {
		earlier = append(earlier, f.gate)
	}
	for _, p := range parts {
		earlier = append(earlier, p.gate)
	}
	for _, r := range laterRules {
		if newest.Enabled(r.gate) {
			t.Errorf("%s is on", r.gate)
		}
	}
	for _, r := range rules[:len(rules)-len(laterRules)] {
		earlier = append(earlier, r.gate)
	}
	for _, gate := range plugins {
		earlier = append(earlier, gate)
	}
	for _, gate := range earlier {
		if oldest.Enabled(gate) || !newest.Enabled(gate) || !Switchable(gate) {
			t.Errorf("%s: on in %s %t, in %s %t", gate, Oldest, oldest.Enabled(gate), Newest, newest.Enabled(gate))
		}
	}
	for _, gate := range others {
		newest.Gates.Enabled(featuregate.Feature(gate)) // panics for one that is unknown
	}
}
