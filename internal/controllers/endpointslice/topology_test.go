package endpointslice

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// in returns n ready endpoints in each zone, in the order of their names.
func in(zones map[string]int) (all []*discoveryv1.Endpoint) {
	for _, zone := range []string{"a", "b", "c"} {
		for range zones[zone] {
			ep := endpoint(len(all))
			ep.Zone = &zone
			all = append(all, &ep)
		}
	}
	return all
}

func TestShare(t *testing.T) {
	third := map[string]float64{"a": 1. / 3, "b": 1. / 3, "c": 1. / 3}
	for _, c := range []struct {
		name   string
		have   map[string]int
		shares map[string]float64
		want   map[string]int // the number of endpoints for each zone
		why    string
	}{
		{name: "each its own", have: map[string]int{"a": 2, "b": 2, "c": 2}, shares: third, want: map[string]int{"a": 2, "b": 2, "c": 2}},
		{name: "a zone without", have: map[string]int{"a": 3, "b": 3}, shares: third, want: map[string]int{"a": 2, "b": 2, "c": 2}},
		{name: "all in one", have: map[string]int{"a": 9}, shares: third, want: map[string]int{"a": 3, "b": 3, "c": 3}},
		{name: "by what they have", have: map[string]int{"a": 5, "b": 5}, shares: map[string]float64{"a": .8, "b": .2}, want: map[string]int{"a": 8, "b": 2}},
		{name: "a little uneven", have: map[string]int{"a": 4, "b": 3, "c": 3}, shares: third, want: map[string]int{"a": 4, "b": 3, "c": 3}},
		{name: "too few", have: map[string]int{"a": 2}, shares: third, why: "Insufficient number of endpoints (2 endpoints, 3 zones)"},
		{name: "cannot be even", have: map[string]int{"a": 4}, shares: third, why: "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)"},
		{name: "nothing known", have: map[string]int{"a": 9}, why: "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"},
	} {
		all := in(c.have)
		why := share(all, c.shares, nil)
		got, before := map[string]int{}, map[types.UID]string{}
		for _, ep := range all {
			if ep.Hints != nil {
				got[ep.Hints.ForZones[0].Name]++
				before[ep.TargetRef.UID] = ep.Hints.ForZones[0].Name
			}
		}
		if why != c.why || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %q", c.name, got, why)
		}
		if why != "" {
			continue
		}
		// The same endpoints in another order have the same hints.
		again := in(c.have)
		for i, j := 0, len(again)-1; i < j; i, j = i+1, j-1 {
			again[i], again[j] = again[j], again[i]
		}
		share(again, c.shares, before)
		for _, ep := range again {
			if zone := ep.Hints.ForZones[0].Name; zone != before[ep.TargetRef.UID] {
				t.Errorf("%s: %s was for %s and is for %s", c.name, ep.TargetRef.UID, before[ep.TargetRef.UID], zone)
			}
		}
	}

	all := in(map[string]int{"a": 4, "b": 3})
	no := false
	all[0].Conditions.Ready = &no
	if why := share(all, map[string]float64{"a": .5, "b": .5}, nil); why != "" || all[0].Hints != nil {
		t.Errorf("one that is not ready: %v, %s", all[0].Hints, why)
	}
	all[1].Zone = nil
	if why := share(all, map[string]float64{"a": .5, "b": .5}, nil); !strings.HasPrefix(why, "One or more endpoints") {
		t.Errorf("one without a zone: %s", why)
	}
}

func TestShares(t *testing.T) {
	node := func(zone, cpu string, ready corev1.ConditionStatus, labels ...string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
		if zone != "" {
			n.Labels[corev1.LabelTopologyZone] = zone
		}
		for _, l := range labels {
			n.Labels[l] = ""
		}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		return n
	}
	yes := corev1.ConditionTrue
	for _, c := range []struct {
		name  string
		nodes []*corev1.Node
		want  string
	}{
		{"by their CPU", []*corev1.Node{node("a", "6", yes), node("b", "1", yes), node("b", "1", yes)}, "map[a:0.75 b:0.25]"},
		{"those that do not count", []*corev1.Node{node("a", "2", yes), node("b", "2", yes), node("b", "4", "Unknown"), node("", "4", yes, "node-role.kubernetes.io/control-plane")}, "map[a:0.5 b:0.5]"},
		{"one zone", []*corev1.Node{node("a", "2", yes)}, "map[]"},
		{"one without a zone", []*corev1.Node{node("a", "2", yes), node("b", "2", yes), node("", "2", yes)}, "map[]"},
		{"one without CPU", []*corev1.Node{node("a", "2", yes), node("b", "2", yes), node("b", "0", yes)}, "map[]"},
	} {
		if got := fmt.Sprint(shares(c.nodes)); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
