package nodegroups

import (
	"fmt"
	"testing"
	"time"

	"fairlead.dev/internal/node/images"
)

// TestStockOuts draws instances before, in and after a time without stock.
func TestStockOuts(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := &Group{Name: "a", Max: 9, ProvisionTime: &images.Span{Least: time.Minute, Most: time.Minute}}
	out := StockOut{}
	out.After.Duration, out.For.Duration = time.Hour, 10*time.Minute
	g.StockOuts = []StockOut{out}
	s := &state{Since: since}

	s.request(1, since)
	failed, changed, wake := g.draw(s, 0, 1, since)
	if len(failed) != 0 || !changed || !wake.Equal(since.Add(time.Minute)) {
		t.Errorf("with stock: failed %v, changed %v, next step at %v", failed, changed, wake)
	}

	s.request(1, since)
	at := since.Add(65 * time.Minute)
	failed, _, wake = g.draw(s, 0, 1, at)
	if len(failed) != 1 || failed[0].failure().Code != "OUT_OF_STOCK" || !wake.Equal(since.Add(70*time.Minute)) {
		t.Errorf("without stock: failed %v, next step at %v", failed, wake)
	}
	if failed, changed, _ = g.draw(s, 0, 1, at); len(failed) != 0 || changed {
		t.Errorf("a second time: failed %v, changed %v", failed, changed)
	}

	if _, changed, wake = g.draw(s, 0, 1, since.Add(70*time.Minute)); !changed || s.Instances[1].failure() != nil || !wake.Equal(since.Add(71*time.Minute)) {
		t.Errorf("with stock again: %v, next step at %v", s.Instances[1], wake)
	}
}

// TestFailures draws instances of a group with two failures: the rates hold, and the same seed has the same result.
func TestFailures(t *testing.T) {
	g := &Group{Name: "a", Max: 2000, Failures: []Failure{{Rate: 0.2, Code: "A"}, {Rate: 0.1, Code: "B"}}}
	draw := func(seed int64) (codes string, count map[string]int) {
		s := &state{}
		s.request(2000, time.Now())
		failed, _, _ := g.draw(s, 0, seed, time.Now())
		count = map[string]int{}
		for _, i := range failed {
			count[i.failure().Code]++
			codes += fmt.Sprint(i.Number, i.failure().Code, " ")
		}
		return codes, count
	}
	first, count := draw(1)
	if a, b := count["A"], count["B"]; a < 300 || a > 500 || b < 140 || b > 260 {
		t.Errorf("of 2000 instances %d fail with A and %d with B", a, b)
	}
	if again, _ := draw(1); again != first {
		t.Error("the same seed has another result")
	}
	if other, _ := draw(2); other == first {
		t.Error("another seed has the same result")
	}
}

// TestStock counts Nodes and instances that are being created against the stock, and failed ones not.
func TestStock(t *testing.T) {
	stock := 3
	g := &Group{Name: "a", Max: 9, Stock: &stock}
	s := &state{}
	s.request(4, time.Now())
	s.Instances[0].Failed = &Failure{Code: "A"}
	failed, _, _ := g.draw(s, 1, 1, time.Now())
	if len(failed) != 1 || failed[0].Number != 4 {
		t.Errorf("beside a Node, these have no stock: %v", failed)
	}
}
