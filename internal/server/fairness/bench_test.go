package fairness_test

import (
	"testing"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"fairlead.dev/internal/server/fairness"
	"fairlead.dev/internal/server/request"
)

// BenchmarkSeat has the cost of a seat at a level with free seats.
func BenchmarkSeat(b *testing.B) {
	d := fairness.New(fairness.Options{Seats: 600, Objects: func(string, string) (fairness.Objects, bool) { return fairness.Objects{Count: 100, Size: 1000}, true }})
	d.Set([]*flowcontrolv1.FlowSchema{flow("all", "l", 9900, "*")}, []*flowcontrolv1.PriorityLevelConfiguration{level("l", 100, 50, 128, 6, 50)})
	for _, verb := range []string{"get", "list", "update"} {
		b.Run(verb, func(b *testing.B) {
			in := &request.Info{IsResource: true, Verb: verb, Version: "v1", Resource: "pods", Namespace: "default"}
			u := user("ann")
			b.ReportAllocs()
			for b.Loop() {
				s, _, err := d.Enter(b.Context(), fairness.Request{User: u, Info: in, Arrived: time.Now(), Patience: time.Second})
				if err != nil {
					b.Fatal(err)
				}
				s.Leave()
			}
		})
	}
}
