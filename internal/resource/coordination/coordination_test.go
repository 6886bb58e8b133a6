package coordination_test

import (
	"testing"

	"fairlead.dev/internal/resource/coordination"
	"fairlead.dev/internal/resource/resourcetest"
)

const lease = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: n1, namespace: kube-node-lease}
spec: {holderIdentity: n1, leaseDurationSeconds: 40, leaseTransitions: 1}
`

func TestLease(t *testing.T) {
	k := resourcetest.New(t, coordination.Resources(), lease)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no duration", "spec.leaseDurationSeconds: 0",
			"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
		{"negative transitions", "spec.leaseTransitions: -1",
			"spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
		{"unknown strategy", "spec.strategy: Some",
			`spec.strategy.strategy: Unsupported value: "Some": supported values: "OldestEmulationVersion"`},
		{"another's strategy", "spec.strategy: example.com/Some"},
		{"malformed strategy", "spec.strategy: a/b/c",
			`spec.strategy.strategy: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`},
		{"preferred holder without a strategy", "spec.preferredHolder: a",
			"spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"},
		{"coordinated", "spec.strategy: OldestEmulationVersion\nspec.preferredHolder: a"},
	})
	k.Update(t, []resourcetest.Case{{"holder", "spec.holderIdentity: other"}, {"no duration", "spec.leaseDurationSeconds: 0",
		"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "n1  n1  <unknown>"}})
}
