package show

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"fairlead.dev/trace"
)

// example is an event with long names and notes, and one that it caused.
func example() []Event {
	reconcile := trace.LifeReconcile{Controller: "a-controller-with-a-long-name", Key: "default/an-object-with-a-long-name", Queued: 3, Begun: 5, Ended: 9, Err: strings.Repeat("conflict ", 30), Conflict: true}
	lf := trace.Life{
		Revision: 519, Type: "MODIFIED", Resource: "deployments.apps", Namespace: "default", Name: "an-object-with-a-long-name", Verb: "patch", User: "system:serviceaccount:kube-system:someone",
		Began: time.Unix(0, 0), Hops: []trace.HopTime{{Hop: "cached", At: 2}}, Reconciles: []trace.LifeReconcile{reconcile},
		Arrivals: []trace.Arrival{
			{Informer: trace.Informer{Agent: "fairlead/v1 (system:kube-scheduler)", Resource: "pods"}, Stored: 3},
			{Informer: trace.Informer{Agent: "fairlead/v1 (system:kube-controller-manager)", Resource: "pods"}, Stored: 4},
		},
		Deliveries: []trace.Delivery{{Stream: trace.Stream{User: "system:kube-controller-manager", Fields: "spec.nodeName=node-1"}, Framed: 2, Flushed: 3}},
	}
	effect := lf
	effect.Revision, effect.Causes = 520, []int64{519}
	return []Event{{Life: lf, Waiting: []trace.Stream{{User: "system:kube-controller-manager"}}}, {Life: effect}}
}

// TestLinesFitTheTerminal checks that no line is wider than the terminal, and that notes stand on their rows where there
// is room.
func TestLinesFitTheTerminal(t *testing.T) {
	text := func(columns int) string {
		var b strings.Builder
		events := example()
		if err := Waterfall(&b, events[0], Palette{}, columns); err != nil {
			t.Fatal(err)
		}
		if err := Tree(&b, events, Palette{}, columns); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, columns := range []int{24, 40, 60, 80, 100, 115, 200} {
		for line := range strings.Lines(text(columns)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns on a terminal of %d: %s", n, columns, line)
			}
		}
		if columns >= 60 && !(strings.Contains(text(columns), "system:kube-scheduler") && strings.Contains(text(columns), "conflict, tried again")) {
			t.Errorf("%d columns: not said whose informers these are, or that the key is tried again:\n%s", columns, text(columns))
		}
	}
	for _, columns := range []int{0, 2000} {
		if !strings.Contains(text(columns), " conflict, tried again: "+strings.Repeat("conflict ", 30)+"\n") {
			t.Errorf("a note is not on its row, though there is room:\n%s", text(columns))
		}
	}
}

func TestHeartbeats(t *testing.T) {
	for _, c := range []struct {
		lf   trace.Life
		want bool
	}{
		{trace.Life{Resource: "leases.coordination.k8s.io"}, true},
		{trace.Life{Resource: "nodes", Subresource: "status", User: "system:node:a"}, true},
		{trace.Life{Resource: "nodes", Subresource: "status", User: "system:serviceaccount:kube-system:node-controller"}, false},
		{trace.Life{Resource: "nodes", User: "system:node:a"}, false},
	} {
		if got := IsHeartbeat(c.lf); got != c.want {
			t.Errorf("%+v: %v", c.lf, got)
		}
	}
}
