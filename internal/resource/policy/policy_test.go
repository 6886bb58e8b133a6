package policy_test

import (
	"testing"

	"fairlead.dev/internal/resource/policy"
	"fairlead.dev/internal/resource/resourcetest"
)

const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {a: b}}}
status: {disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3}
`

func TestPodDisruptionBudget(t *testing.T) {
	k := resourcetest.New(t, policy.Resources(), budget)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative", "spec.minAvailable: -1",
			"spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"},
		{"above 100%", "spec.minAvailable: 101%",
			`spec.minAvailable: Invalid value: "101%": must not be greater than 100%`},
		{"not a percentage", "spec.minAvailable: many",
			`spec.minAvailable: Invalid value: "many": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%',`},
		{"both", "spec.maxUnavailable: 1",
			`spec: Invalid value: {"minAvailable":2,"selector":{"matchLabels":{"a":"b"}},"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set`},
		{"negative maxUnavailable", "spec: {maxUnavailable: -1}",
			"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"},
		{"maxUnavailable above 100%", "spec: {maxUnavailable: 200%}",
			`spec.maxUnavailable: Invalid value: "200%": must not be greater than 100%`},
		{"selector", "spec.selector: {matchExpressions: [{key: a, operator: In}]}",
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		{"eviction policy", "spec.unhealthyPodEvictionPolicy: Some",
			`spec.unhealthyPodEvictionPolicy: Unsupported value: "Some": supported values: "AlwaysAllow", "IfHealthyBudget"`},
		{"eviction policy always", "spec.unhealthyPodEvictionPolicy: AlwaysAllow"},
	})
	k.Update(t, []resourcetest.Case{{"more", "spec.minAvailable: 3"}, {"both", "spec.maxUnavailable: 1",
		`spec: Invalid value: {"minAvailable":2,"selector":{"matchLabels":{"a":"b"}},"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set`}})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative counts", "status: {disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1}",
			"status.currentHealthy: Invalid value: -1: must be greater than or equal to 0",
			"status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0",
			"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0",
			"status.expectedPods: Invalid value: -1: must be greater than or equal to 0"},
		{"condition", "status.conditions: [{type: 'a b', status: Perhaps, reason: '', message: '', lastTransitionTime: ~}]",
			"status.conditions[0].lastTransitionTime: Required value",
			"status.conditions[0].reason: Required value",
			`status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"`,
			`status.conditions[0].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status.expectedPods: 0", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"more", "spec.minAvailable: 3", "metadata.generation: 2"}, {"status", "status.expectedPods: 9", "status.expectedPods: 0"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.minAvailable: 9\nstatus.expectedPods: 9", "spec.minAvailable: 2", "status.expectedPods: 9"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "web  2  N/A  1  <unknown>"},
		{"maxUnavailable", "spec: {maxUnavailable: 10%}", "web  N/A  10%  1  <unknown>"},
	})
}
