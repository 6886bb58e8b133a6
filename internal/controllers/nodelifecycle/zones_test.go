package nodelifecycle

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// district acts as the controller for zones: nodes that are woken and NotReady ask to be tainted, once.
type district struct {
	*zones
	begun time.Time
	mu    sync.Mutex
	bad   map[string]bool
	order []string // "node@seconds"
}

func newDistrict() *district {
	d := &district{begun: time.Now(), bad: map[string]bool{}}
	d.zones = newZones(10*time.Second, func(node string, after time.Duration) {
		time.AfterFunc(after, func() { d.look(node) })
	})
	return d
}

func (d *district) look(node string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.bad[node] {
		d.leave(node)
	} else if d.turn(node) {
		d.order = append(d.order, fmt.Sprintf("%s@%d", node, int(time.Since(d.begun).Seconds())))
		d.tainted(node)
		d.bad[node] = false
	}
}

func (d *district) is(zone, ready string, nodes ...string) (turned bool) {
	for _, name := range nodes {
		d.mu.Lock()
		d.bad[name] = ready != "True"
		d.mu.Unlock()
		n := node(name, "Ready", ready)
		n.Labels = map[string]string{corev1.LabelTopologyZone: zone}
		turned = d.set(n) || turned
	}
	return turned
}

func (d *district) expect(t *testing.T, wait time.Duration, want ...string) {
	t.Helper()
	time.Sleep(wait)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.order, want) {
		t.Errorf("turns %v, want %v", d.order, want)
	}
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

func TestNodesOfAZoneTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistrict()
		d.is("a", "True", names("ok", 5)...)
		d.is("b", "True", "fine")
		d.is("a", "Unknown", "n1", "n2", "n3")
		d.is("b", "Unknown", "other")
		for _, n := range []string{"n1", "n2", "n3", "n2", "other"} { // asking twice has no effect
			d.look(n)
		}
		d.expect(t, time.Second, "n1@0", "other@0")
		d.expect(t, 10*time.Second, "n1@0", "other@0", "n2@10")
		d.is("a", "True", "n3") // back in time
		d.look("n3")
		d.expect(t, time.Hour, "n1@0", "other@0", "n2@10")
	})
}

func TestTheNextMovesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistrict()
		d.is("a", "True", names("ok", 5)...)
		d.is("a", "Unknown", "n1", "n2", "n3")
		d.look("n1")
		d.look("n2")
		d.look("n3")
		d.is("a", "True", "n2")
		d.look("n2")
		d.expect(t, 10*time.Second, "n1@0", "n3@10")
		if d.drop("n1") || d.drop("n2") || d.drop("n3") {
			t.Error("ready nodes are left")
		}
	})
}

// In a mostly NotReady zone no node is tainted, or slowly if the zone is large; a zone without any ready node is
// tainted at full pace as long as another zone has one.
func TestBadZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistrict()
		d.is("small", "True", "ok1", "ok2")
		d.is("small", "Unknown", "s1", "s2", "s3")
		d.is("large", "True", names("fine", 20)...)
		d.is("large", "Unknown", names("l", 40)...)
		d.is("dark", "Unknown", "d1", "d2", "d3")
		for _, n := range []string{"s1", "l1", "l2", "d1", "d2"} {
			d.look(n)
		}
		d.expect(t, 99*time.Second, "l1@0", "d1@0", "d2@10")
		d.expect(t, 2*time.Second, "l1@0", "d1@0", "d2@10", "l2@100")
		d.is("small", "True", "s3") // 2 of 5 are bad now
		d.expect(t, time.Second, "l1@0", "d1@0", "d2@10", "l2@100", "s1@101")
	})
}

func TestNobodyIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDistrict()
		if d.is("a", "True", "n1", "n2") {
			t.Error("it was never down")
		}
		excluded := node("x", "Ready", "True")
		excluded.Labels = map[string]string{"node.kubernetes.io/exclude-disruption": ""}
		d.set(excluded)
		if d.is("a", "Unknown", "n1") || d.down() {
			t.Error("one is left")
		}
		if !d.is("b", "Unknown", "n2") || !d.down() {
			t.Error("none is left")
		}
		d.look("n1")
		d.expect(t, time.Minute)
		if !d.is("b", "True", "n2") || d.down() {
			t.Error("one is back")
		}
		d.look("n1")
		d.expect(t, 0, "n1@60")
		if got := len(d.all()); got != 3 {
			t.Errorf("%d nodes", got)
		}
	})
}
