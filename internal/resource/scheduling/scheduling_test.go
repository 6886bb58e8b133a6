package scheduling_test

import (
	"testing"

	"fairlead.dev/internal/resource/resourcetest"
	"fairlead.dev/internal/resource/scheduling"
)

const class = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
`

func TestPriorityClass(t *testing.T) {
	k := resourcetest.New(t, scheduling.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"too high", "value: 1000000001",
			"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		{"system's name", "metadata.name: system-mine",
			"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known"},
		{"preemption", "preemptionPolicy: Some",
			`preemptionPolicy: Unsupported value: "Some": supported values: "PreemptLowerPriority", "Never"`},
		{"no preemption", "preemptionPolicy: Never"},
	})
	k.Update(t, []resourcetest.Case{{"description", "description: a"}, {"value", "value: 2000",
		"value: Forbidden: may not be changed in an update."}, {"preemption", "preemptionPolicy: Never",
		`preemptionPolicy: Invalid value: "Never": field is immutable`}})
	k.Defaults(t, []resourcetest.Case{{"preemption", "", "preemptionPolicy: PreemptLowerPriority"}})
	k.Rows(t, []resourcetest.Case{{"row", "preemptionPolicy: Never", "high  1000  false  <unknown>  Never"}})
}
