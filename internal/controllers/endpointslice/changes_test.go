package endpointslice

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var svc = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "ns", UID: "svc", Labels: map[string]string{"app": "shop"}}}

const v4 = discoveryv1.AddressTypeIPv4

func endpoint(n int) discoveryv1.Endpoint {
	yes := true
	return discoveryv1.Endpoint{
		Addresses:  []string{fmt.Sprintf("10.0.%d.%d", n/250, n%250)},
		Conditions: discoveryv1.EndpointConditions{Ready: &yes},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", UID: types.UID(fmt.Sprint("pod", n))},
	}
}

func ports(n int32) []discoveryv1.EndpointPort {
	name, tcp := "http", corev1.ProtocolTCP
	return []discoveryv1.EndpointPort{{Name: &name, Port: &n, Protocol: &tcp}}
}

// wanting describes endpoints from..to on port 80.
func wanting(ranges ...[2]int) map[discoveryv1.AddressType]map[groupKey]*group {
	g := &group{ports: ports(80)}
	for _, r := range ranges {
		for n := r[0]; n < r[1]; n++ {
			g.endpoints = append(g.endpoints, endpoint(n))
		}
	}
	groups := map[groupKey]*group{}
	if len(g.endpoints) > 0 {
		groups[groupKey{v4, spell(g.ports)}] = g
	}
	return map[discoveryv1.AddressType]map[groupKey]*group{v4: groups}
}

// apply returns the slices after the changes.
func apply(existing []*discoveryv1.EndpointSlice, c changes) []*discoveryv1.EndpointSlice {
	byName := map[string]*discoveryv1.EndpointSlice{}
	for _, s := range existing {
		byName[s.Name] = s
	}
	for _, s := range c.create {
		serial++
		s.Name = fmt.Sprintf("shop-%04d", serial)
		s.UID = types.UID(s.Name)
		byName[s.Name] = s
	}
	for _, s := range c.update {
		byName[s.Name] = s
	}
	for _, s := range c.remove {
		delete(byName, s.Name)
	}
	var out []*discoveryv1.EndpointSlice
	for _, s := range byName {
		out = append(out, s)
	}
	return out
}

var serial int

func addresses(t *testing.T, all []*discoveryv1.EndpointSlice) int {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range all {
		if len(s.Endpoints) > perSlice {
			t.Errorf("%s has %d endpoints", s.Name, len(s.Endpoints))
		}
		for _, ep := range s.Endpoints {
			if seen[ep.Addresses[0]] {
				t.Errorf("%s twice", ep.Addresses[0])
			}
			seen[ep.Addresses[0]] = true
		}
	}
	return len(seen)
}

func TestPlanTouchesFewSlices(t *testing.T) {
	var have []*discoveryv1.EndpointSlice
	for _, c := range []struct {
		name                   string
		want                   [][2]int
		create, update, remove int
	}{
		{"no endpoints: a placeholder", nil, 1, 0, 0},
		{"the same again", nil, 0, 0, 0},
		{"250 come, the first into the placeholder", [][2]int{{0, 250}}, 2, 1, 0},
		{"nothing changes", [][2]int{{0, 250}}, 0, 0, 0},
		{"one more goes into the one with room", [][2]int{{0, 251}}, 0, 1, 0},
		{"one leaves", [][2]int{{0, 30}, {31, 251}}, 0, 1, 0},
		{"its place is taken when another one comes", [][2]int{{0, 30}, {31, 252}}, 0, 1, 0},
		{"a slice is left with one", [][2]int{{100, 252}}, 0, 1, 0},
		{"a whole slice's worth leaves", [][2]int{{200, 252}}, 0, 0, 1},
		{"all leave", nil, 0, 1, 1},
	} {
		p := plan(svc, have, wanting(c.want...))
		if len(p.create) != c.create || len(p.update) != c.update || len(p.remove) != c.remove {
			t.Errorf("%s: create %d, update %d, remove %d; want %d, %d, %d", c.name,
				len(p.create), len(p.update), len(p.remove), c.create, c.update, c.remove)
		}
		have = apply(have, p)
		n := 0
		for _, r := range c.want {
			n += r[1] - r[0]
		}
		if got := addresses(t, have); got != n {
			t.Errorf("%s: %d endpoints, want %d", c.name, got, n)
		}
		if again := plan(svc, have, wanting(c.want...)); !again.empty() {
			t.Errorf("%s: a second pass would write %+v", c.name, again)
		}
	}
}

func TestPlanFollowsLabelsAndOwner(t *testing.T) {
	have := apply(nil, plan(svc, nil, wanting([2]int{0, 5})))
	relabelled := svc.DeepCopy()
	relabelled.Labels["app"] = "other"
	if p := plan(relabelled, have, wanting([2]int{0, 5})); len(p.update) != 1 || p.update[0].Labels["app"] != "other" {
		t.Errorf("label: %+v", p)
	}
	if have[0].Labels["app"] != "shop" {
		t.Error("the cached slice was changed")
	}
	namesake := svc.DeepCopy()
	namesake.UID = "another"
	if p := plan(namesake, have, wanting([2]int{0, 5})); len(p.create) != 1 || len(p.remove) != 1 {
		t.Errorf("another Service of the name: %+v", p)
	}
}

func TestPlanSeparatesPorts(t *testing.T) {
	w := wanting([2]int{0, 5})
	w[v4][groupKey{v4, spell(ports(81))}] = &group{ports: ports(81), endpoints: []discoveryv1.Endpoint{endpoint(7)}}
	p := plan(svc, nil, w)
	if len(p.create) != 2 || *p.create[0].Ports[0].Port == *p.create[1].Ports[0].Port {
		t.Errorf("%+v", p)
	}
}
