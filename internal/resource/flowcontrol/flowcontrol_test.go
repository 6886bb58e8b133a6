package flowcontrol_test

import (
	"testing"

	"fairlead.dev/internal/resource/flowcontrol"
	"fairlead.dev/internal/resource/resourcetest"
)

const schema = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: mine}
spec:
  priorityLevelConfiguration: {name: low}
  matchingPrecedence: 100
  distinguisherMethod: {type: ByUser}
  rules: [{subjects: [{kind: User, user: {name: ann}}], resourceRules: [{verbs: [get], apiGroups: [""], resources: [pods], namespaces: [a]}]}]
`

func TestFlowSchema(t *testing.T) {
	k := resourcetest.New(t, flowcontrol.Resources(), schema)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no level", "spec.priorityLevelConfiguration.name: ''",
			"spec.priorityLevelConfiguration.name: Required value: must reference a priority level"},
		{"level", "spec.priorityLevelConfiguration.name: A_",
			`spec.priorityLevelConfiguration.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric`},
		{"precedence", "spec.matchingPrecedence: -1",
			"spec.matchingPrecedence: Invalid value: -1: must be a positive value"},
		{"precedence too high", "spec.matchingPrecedence: 10001",
			"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"},
		{"precedence of the exempt", "spec.matchingPrecedence: 1",
			"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"},
		{"distinguisher", "spec.distinguisherMethod.type: Some",
			`spec.distinguisherMethod.type: Unsupported value: {"type":"Some"}: supported values: "ByNamespace", "ByUser"`},
		{"no subjects", "spec.rules[0].subjects: []",
			"spec.rules[0].subjects: Required value: subjects must contain at least one value"},
		{"no rules of resources", "spec.rules[0].resourceRules: []",
			"spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"},
		{"subject", "spec.rules[0].subjects: [{kind: Some}]",
			`spec.rules[0].subjects[0].kind: Unsupported value: "Some": supported values: "Group", "ServiceAccount", "User"`},
		{"user without a name", "spec.rules[0].subjects: [{kind: User, user: {name: ''}}]",
			"spec.rules[0].subjects[0].user.name: Required value"},
		{"user of another kind", "spec.rules[0].subjects: [{kind: Group, user: {name: a}}]",
			"spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
			"spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'"},
		{"account", "spec.rules[0].subjects: [{kind: ServiceAccount, serviceAccount: {namespace: '', name: ''}}]",
			"spec.rules[0].subjects[0].serviceAccount.name: Required value",
			"spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account"},
		{"verbs", "spec.rules[0].resourceRules[0].verbs: [some]",
			`spec.rules[0].resourceRules[0].verbs: Unsupported value: ["some"]: supported values: "create", "delete", "deletecollection", "get", "list",`},
		{"no verbs", "spec.rules[0].resourceRules[0].verbs: []",
			"spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value"},
		{"verb and all", "spec.rules[0].resourceRules[0].verbs: ['*', get]",
			`spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`},
		{"no groups and resources", "spec.rules[0].resourceRules[0].apiGroups: []\nspec.rules[0].resourceRules[0].resources: []",
			"spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
			"spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource"},
		{"no scope", "spec.rules[0].resourceRules[0].namespaces: []",
			"spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace"},
		{"namespace", "spec.rules[0].resourceRules[0].namespaces: [A_]",
			`spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "A_": each member of this list must be '*' or a DNS-1123 label; a lowercase`},
		{"path", "spec.rules[0].nonResourceRules: [{verbs: [get], nonResourceURLs: [a]}]",
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash`},
		{"path with a star within", "spec.rules[0].nonResourceRules: [{verbs: [get], nonResourceURLs: ['/a*/b']}]",
			`spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*/b": wildcard can only do suffix matching`},
	})
	k.Update(t, []resourcetest.Case{{"precedence", "spec.matchingPrecedence: 200"}, {"no level", "spec.priorityLevelConfiguration.name: ''",
		"spec.priorityLevelConfiguration.name: Required value: must reference a priority level"}})
	k.Defaults(t, []resourcetest.Case{{"precedence", "spec.matchingPrecedence: ~", "spec.matchingPrecedence: 1000"}})
	k.Created(t, []resourcetest.Case{{"generation", "", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"precedence", "spec.matchingPrecedence: 200", "metadata.generation: 2"}})
}

const level = `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: low}
spec: {type: Limited, limited: {nominalConcurrencyShares: 1, limitResponse: {type: Queue, queuing: {queues: 8, handSize: 2, queueLengthLimit: 5}}}}
`

func TestPriorityLevelConfiguration(t *testing.T) {
	k := resourcetest.New(t, flowcontrol.Resources(), level)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"type", "spec: {type: Some}",
			`spec.type: Unsupported value: "Some": supported values: "Exempt", "Limited"`},
		{"limited without limits", "spec: {type: Limited}",
			"spec.limited: Required value"},
		{"exempt with limits", "spec.type: Exempt",
			"spec.limited: Forbidden",
			"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"},
		{"exempt", "spec: {type: Exempt, exempt: {nominalConcurrencyShares: -1, lendablePercent: 101}}",
			"spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
			"spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
			"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"},
		{"shares", "spec.limited.nominalConcurrencyShares: -1",
			"spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer"},
		{"lendable", "spec.limited.lendablePercent: 101",
			"spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"},
		{"borrowing", "spec.limited.borrowingLimitPercent: -1",
			"spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer"},
		{"response", "spec.limited.limitResponse: {type: Some}",
			`spec.limited.limitResponse.type: Unsupported value: "Some": supported values: "Queue", "Reject"`},
		{"queues of a rejection", "spec.limited.limitResponse.type: Reject",
			"spec.limited.limitResponse.queuing: Forbidden"},
		{"no queues", "spec.limited.limitResponse: {type: Queue}",
			"spec.limited.limitResponse.queuing: Required value"},
		{"zero queues", "spec.limited.limitResponse.queuing: {queues: -1, handSize: -1, queueLengthLimit: -1}",
			"spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive",
			"spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
			"spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive"},
		{"hand above the queues", "spec.limited.limitResponse.queuing.handSize: 9",
			"spec.limited.limitResponse.queuing.handSize: Invalid value: 9: should not be greater than queues (8)"},
		{"too many queues", "spec.limited.limitResponse.queuing.queues: 10000001",
			"spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater than 10000000"},
	})
	k.Update(t, []resourcetest.Case{{"shares", "spec.limited.nominalConcurrencyShares: 5"}, {"type", "spec: {type: Some}",
		`spec.type: Unsupported value: "Some": supported values: "Exempt", "Limited"`}})
	k.Defaults(t, []resourcetest.Case{
		{"queues", "spec.limited.limitResponse: {type: Queue, queuing: {}}", "spec.limited.limitResponse.queuing: {queues: 64, handSize: 8, queueLengthLimit: 50}"},
		{"shares", "spec.limited.nominalConcurrencyShares: ~", "spec.limited.nominalConcurrencyShares: 30", "spec.limited.lendablePercent: 0"},
	})
}

func TestMandatory(t *testing.T) {
	schemas := resourcetest.New(t, flowcontrol.Resources(), `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: catch-all}
spec:
  priorityLevelConfiguration: {name: catch-all}
  matchingPrecedence: 10000
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects: [{kind: Group, group: {name: "system:unauthenticated"}}, {kind: Group, group: {name: "system:authenticated"}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}]
    nonResourceRules: [{verbs: ["*"], nonResourceURLs: ["*"]}]
`)
	schemas.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"changed", "spec.matchingPrecedence: 9999", `spec: Invalid value: {"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":9999,"distinguisherMethod":{"type":"ByUser"},` +
			`"rules":[{"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],` +
			`"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}: ` +
			"spec of 'catch-all' must equal the fixed value"},
	})
	levels := resourcetest.New(t, flowcontrol.Resources(), `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: catch-all}
spec: {type: Limited, limited: {nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: {type: Reject}}}
`)
	levels.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"changed", "spec.limited.nominalConcurrencyShares: 6", `spec: Invalid value: {"type":"Limited","limited":{"nominalConcurrencyShares":6,"limitResponse":{"type":"Reject"},"lendablePercent":0}}: ` +
			"spec of 'catch-all' must equal the fixed value"},
	})
	exempt := resourcetest.New(t, flowcontrol.Resources(), `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: exempt}
spec: {type: Exempt, exempt: {nominalConcurrencyShares: 7, lendablePercent: 50}}
`)
	exempt.Create(t, []resourcetest.Case{{"shares of users", ""}})
}
