package node_test

import (
	"testing"

	"fairlead.dev/internal/resource/node"
	"fairlead.dev/internal/resource/resourcetest"
)

const class = `
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
overhead: {podFixed: {cpu: 10m}}
scheduling: {nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}]}
`

func TestRuntimeClass(t *testing.T) {
	k := resourcetest.New(t, node.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no handler", "handler: ''",
			"handler: Required value"},
		{"handler", "handler: A_",
			`handler: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end`},
		{"negative overhead", "overhead.podFixed: {cpu: -1}",
			`overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"unknown resource", "overhead.podFixed: {disk: 1}",
			`overhead.limits[disk]: Invalid value: "disk": must be a standard resource for containers`,
			`overhead.limits[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`},
		{"node selector", "scheduling.nodeSelector: {'a b': c}",
			`scheduling.nodeSelector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"toleration", "scheduling.tolerations: [{key: a, operator: Is}]",
			`scheduling.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"`},
		{"toleration twice", "scheduling.tolerations: [{key: a, operator: Exists}, {key: a, operator: Exists}]",
			`scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists"}`},
	})
	k.Update(t, []resourcetest.Case{{"overhead", "overhead: ~"}, {"handler", "handler: other",
		`handler: Invalid value: null: field is immutable`}})
	k.Rows(t, []resourcetest.Case{{"row", "", "gvisor  runsc  <unknown>"}})
}
