package rbac_test

import (
	"testing"

	"fairlead.dev/internal/resource/rbac"
	"fairlead.dev/internal/resource/resourcetest"
)

const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "system:reader", namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get], resourceNames: [a]}]
`

func TestRole(t *testing.T) {
	k := resourcetest.New(t, rbac.Resources(), role)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name with a slash", "metadata.name: a/b",
			`metadata.name: Invalid value: "a/b": may not contain '/'`},
		{"no verbs", "rules[0].verbs: []",
			"rules[0].verbs: Required value"},
		{"no groups", "rules[0].apiGroups: []",
			"rules[0].apiGroups: Required value: resource rules must supply at least one api group"},
		{"no resources", "rules[0].resources: []",
			"rules[0].resources: Required value: resource rules must supply at least one resource"},
		{"paths of a namespace", "rules: [{nonResourceURLs: [/a], verbs: [get]}]",
			`rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs`},
		{"no rules", "rules: ~"},
	})
	k.Update(t, []resourcetest.Case{{"verbs", "rules[0].verbs: [get, list]"}, {"no verbs", "rules[0].verbs: []",
		"rules[0].verbs: Required value"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "system:reader  0001-01-01T00:00:00Z"}})
}

const clusterRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{nonResourceURLs: [/healthz], verbs: [get]}, {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
`

func TestClusterRole(t *testing.T) {
	k := resourcetest.New(t, rbac.Resources(), clusterRole)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"paths and resources", "rules: [{nonResourceURLs: [/a], apiGroups: [''], resources: [pods], verbs: [get]}]",
			`rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs`},
		{"no verbs of a path", "rules: [{nonResourceURLs: [/a], verbs: []}]",
			"rules[0].verbs: Required value"},
		{"aggregation of nothing", "aggregationRule: {}",
			"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"},
		{"malformed aggregation", "aggregationRule: {clusterRoleSelectors: [{matchExpressions: [{key: a, operator: In}]}]}",
			"aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			"aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector."},
	})
	k.Update(t, []resourcetest.Case{{"rules", "rules: ~"}, {"aggregation of nothing", "aggregationRule: {}",
		"aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"}})
}

const binding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: default}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ann}, {kind: ServiceAccount, name: robot, namespace: default}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
`

func TestRoleBinding(t *testing.T) {
	k := resourcetest.New(t, rbac.Resources(), binding)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"group of the role", "roleRef.apiGroup: example.com",
			`roleRef.apiGroup: Unsupported value: "example.com": supported values: "rbac.authorization.k8s.io"`},
		{"kind of the role", "roleRef.kind: Group",
			`roleRef.kind: Unsupported value: "Group": supported values: "Role", "ClusterRole"`},
		{"no role", "roleRef.name: ''",
			"roleRef.name: Required value"},
		{"role with a slash", "roleRef.name: a/b",
			`roleRef.name: Invalid value: "a/b": may not contain '/'`},
		{"unknown subject", "subjects[0].kind: Robot",
			`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
		{"subject without a name", "subjects[0].name: ''",
			"subjects[0].name: Required value"},
		{"group of a user", "subjects[0].apiGroup: example.com",
			`subjects[0].apiGroup: Unsupported value: "example.com": supported values: "rbac.authorization.k8s.io"`},
		{"group of an account", "subjects[1].apiGroup: example.com",
			`subjects[1].apiGroup: Unsupported value: "example.com": supported values: ""`},
		{"account without a namespace", "subjects[1].namespace: ~"},
		{"account's name", "subjects[1].name: A_",
			`subjects[1].name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"no subjects", "subjects: ~"},
	})
	k.Update(t, []resourcetest.Case{{"subjects", "subjects: ~"}, {"role", "roleRef.name: other",
		`roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"other"}: field is immutable`}})
	k.Defaults(t, []resourcetest.Case{
		{"group", "roleRef.apiGroup: ~\nsubjects[0].apiGroup: ~", "roleRef.apiGroup: rbac.authorization.k8s.io", "subjects[0].apiGroup: rbac.authorization.k8s.io", "subjects[1].apiGroup: ~"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "subjects[2]: {kind: Group, name: all}", "readers  Role/reader  <unknown>  ann  all  default/robot"}})
}

const clusterBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readers}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: all}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
`

func TestClusterRoleBinding(t *testing.T) {
	k := resourcetest.New(t, rbac.Resources(), clusterBinding)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"role of a namespace", "roleRef.kind: Role",
			`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`},
		{"unknown subject", "subjects[0].kind: Robot",
			`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`},
	})
	k.Update(t, []resourcetest.Case{{"role", "roleRef.name: other",
		`roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"other"}: field is immutable`}, {"subject without a name", "subjects[0].name: ''",
		"subjects[0].name: Required value"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "readers  ClusterRole/reader  <unknown>    all  "}})
}
