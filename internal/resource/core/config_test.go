package core_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: default}
immutable: true
data: {a: b}
binaryData: {c: ZA==}
`

func TestConfigMap(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), configMap)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"malformed key", "data: {a/b: c}",
			`data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or`},
		{"dots", "data: {..: c}",
			`data[..]: Invalid value: "..": must not be '..'`},
		{"malformed binary key", "binaryData: {'a b': ZA==}",
			`binaryData[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or`},
		{"key of both", "binaryData: {a: ZA==}",
			`data[a]: Invalid value: "a": duplicate of key present in binaryData`},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"data", "data: {a: c}",
			"data: Forbidden: field is immutable when `immutable` is set"},
		{"binary data", "binaryData: ~",
			"binaryData: Forbidden: field is immutable when `immutable` is set"},
		{"mutable again", "immutable: false",
			"immutable: Forbidden: field is immutable when `immutable` is set"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "c  2  <unknown>"}})
}

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: default}
type: Opaque
immutable: true
data: {a: Yg==}
`

func TestSecret(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), secret)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"malformed key", "data: {a/b: Yg==}",
			`data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or`},
		{"token of no account", "type: kubernetes.io/service-account-token",
			"metadata.annotations[kubernetes.io/service-account.name]: Required value"},
		{"docker config", "type: kubernetes.io/dockercfg",
			"data[.dockercfg]: Required value"},
		{"docker config not JSON", "type: kubernetes.io/dockercfg\ndata: {.dockercfg: Yg==}",
			`data[.dockercfg]: Invalid value: "<secret contents redacted>": invalid character 'b' looking for beginning of value`},
		{"docker JSON", "type: kubernetes.io/dockerconfigjson",
			"data[.dockerconfigjson]: Required value"},
		{"docker JSON not JSON", "type: kubernetes.io/dockerconfigjson\ndata: {.dockerconfigjson: Yg==}",
			`data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'b' looking for beginning of value`},
		{"basic auth", "type: kubernetes.io/basic-auth",
			"data[password]: Required value",
			"data[username]: Required value"},
		{"basic auth of a user", "type: kubernetes.io/basic-auth\ndata: {username: Yg==}"},
		{"SSH", "type: kubernetes.io/ssh-auth",
			"data[ssh-privatekey]: Required value"},
		{"TLS", "type: kubernetes.io/tls",
			"data[tls.crt]: Required value",
			"data[tls.key]: Required value"},
		{"bootstrap token", "type: bootstrap.kubernetes.io/token"},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"type", "type: example.com/a",
			`type: Invalid value: "example.com/a": field is immutable`},
		{"no type", "type: ~"},
		{"data", "data: {a: Yw==}",
			"data: Forbidden: field is immutable when `immutable` is set"},
		{"mutable again", "immutable: false",
			"immutable: Forbidden: field is immutable when `immutable` is set"},
	})
	k.Defaults(t, []resourcetest.Case{{"type", "type: ~", "type: Opaque"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "s  Opaque  1  <unknown>"}})
}

const quota = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: default}
spec: {hard: {cpu: "4", pods: "10"}}
status: {hard: {cpu: "4", pods: "10"}, used: {cpu: "1", pods: "2"}}
`

func TestResourceQuota(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), quota)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative", "spec.hard: {cpu: -1}",
			`spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"part of a pod", "spec.hard: {pods: 500m}",
			`spec.hard[pods]: Invalid value: "500m": must be an integer`},
		{"unknown resource", "spec.hard: {disk: 1}",
			`spec.hard[disk]: Invalid value: "disk": must be a standard resource for quota`,
			`spec.hard[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`},
		{"malformed resource", "spec.hard: {'a b': 1}",
			`spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota`,
			`spec.hard[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`},
		{"objects", "spec.hard: {count/deployments.apps: 1}"},
		{"class", "spec.hard: {gold.storageclass.storage.k8s.io/requests.storage: 1Gi}"},
		{"unknown scope", "spec.scopes: [Some]",
			`spec.scopes: Invalid value: ["Some"]: unsupported scope`},
		{"scope of another resource", "spec.hard: {services: 1}\nspec.scopes: [BestEffort]",
			`spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`},
		{"opposite scopes", "spec.hard: {pods: 1}\nspec.scopes: [BestEffort, NotBestEffort]",
			`spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes`},
		{"scope selector", "spec.hard: {pods: 1}\nspec.scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}"},
		{"scope In without values", "spec.hard: {pods: 1}\nspec.scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In}]}",
			"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"},
		{"scope Exists with values", "spec.hard: {pods: 1}\nspec.scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists, values: [a]}]}",
			"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"},
		{"scope of an unknown operator", "spec.hard: {pods: 1}\nspec.scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Is}]}",
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "Is": not a valid selector operator`},
		{"scope that only exists", "spec.hard: {pods: 1}\nspec.scopeSelector: {matchExpressions: [{scopeName: BestEffort, operator: DoesNotExist}]}",
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": must be 'Exists' when scope is any of`},
	})
	k.Update(t, []resourcetest.Case{
		{"hard", "spec.hard: {cpu: 8}"},
		{"scopes", "spec.hard: {pods: 1}\nspec.scopes: [BestEffort]",
			`spec.scopes: Invalid value: ["BestEffort"]: field is immutable`},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"no hard and used", "status: {}"},
		{"negative used", "status.used: {cpu: -1}",
			`status.used[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"unknown resource", "status.hard: {disk: 1}",
			`status.hard[disk]: Invalid value: "disk": must be a standard resource for quota`,
			`status.hard[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {}"}})
	k.Updated(t, []resourcetest.Case{{"status", "status.used: {cpu: 9}", "status: {}"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.hard: {cpu: 9}\nstatus.used: {cpu: 3}", "spec.hard.cpu: '4'", "status.used.cpu: '3'"}})
	k.Rows(t, []resourcetest.Case{{"row", "status.hard[limits.cpu]: 2\nstatus.used: {cpu: 1, pods: 2}", "q  cpu: 1/4, pods: 2/10  limits.cpu: 0/2  <unknown>"}})
}

const limits = `
apiVersion: v1
kind: LimitRange
metadata: {name: l, namespace: default}
spec: {limits: [{type: Container, max: {cpu: "2"}, min: {cpu: 100m}, default: {cpu: "1"}, defaultRequest: {cpu: 500m}, maxLimitRequestRatio: {cpu: "4"}}]}
`

func TestLimitRange(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), limits)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"unknown type", "spec.limits[0].type: a/b c",
			`spec.limits[0].type: Invalid value: "a/b c": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"type twice", "spec.limits[1]: {type: Container}",
			`spec.limits[1].type: Duplicate value: "Container"`},
		{"min above max", "spec.limits[0].min: {cpu: 3}",
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "500m": min value 3 is greater than default request value 500m`,
			`spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than default value 1`,
			`spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 0.666667`,
			`spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2`},
		{"default above max", "spec.limits[0].default: {cpu: 3}",
			`spec.limits[0].default[cpu]: Invalid value: "2": default value 3 is greater than max value 2`},
		{"request above default", "spec.limits[0].defaultRequest: {cpu: 1500m}",
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "1500m": default request value 1500m is greater than default limit value 1`},
		{"request below min", "spec.limits[0].defaultRequest: {cpu: 50m}",
			`spec.limits[0].defaultRequest[cpu]: Invalid value: "50m": min value 100m is greater than default request value 50m`},
		{"ratio below one", "spec.limits[0].maxLimitRequestRatio: {cpu: 500m}",
			`spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`},
		{"ratio above the limits'", "spec.limits[0].maxLimitRequestRatio: {cpu: 30}",
			`spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "30": ratio 30 is greater than max/min = 20.000000`},
		{"defaults of a pod", "spec.limits: [{type: Pod, default: {cpu: 1}, defaultRequest: {cpu: 1}}]",
			"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
			"spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"},
		{"claim without bounds", "spec.limits: [{type: PersistentVolumeClaim, max: {cpu: 1}}]",
			"spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"},
		{"unknown resource", "spec.limits: [{type: Container, max: {disk: 1}}]",
			`spec.limits[0].defaultRequest[disk]: Invalid value: "disk": must be a standard resource for containers`,
			`spec.limits[0].defaultRequest[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`,
			`spec.limits[0].default[disk]: Invalid value: "disk": must be a standard resource for containers`,
			`spec.limits[0].default[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`,
			`spec.limits[0].max[disk]: Invalid value: "disk": must be a standard resource for containers`,
			`spec.limits[0].max[disk]: Invalid value: "disk": must be a standard resource type or fully qualified`},
		{"huge pages of two sizes", "spec.limits: [{type: Container, default: {hugepages-2Mi: 2Mi}, defaultRequest: {hugepages-2Mi: 4Mi}}]",
			`spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "4Mi": default request value 4Mi is greater than default limit value 2Mi`,
			`spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "4Mi": default value 2Mi must equal to defaultRequest value 4Mi in hugepages-2Mi`},
	})
	k.Update(t, []resourcetest.Case{{"limits", "spec.limits[0].max: {cpu: 4}"}, {"min above max", "spec.limits[0].min: {cpu: 3}",
		`spec.limits[0].defaultRequest[cpu]: Invalid value: "500m": min value 3 is greater than default request value 500m`,
		`spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than default value 1`,
		`spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 0.666667`,
		`spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2`}})
	k.Defaults(t, []resourcetest.Case{
		{"from max", "spec.limits: [{type: Container, max: {cpu: 2}}]", "spec.limits[0].default: {cpu: '2'}", "spec.limits[0].defaultRequest: {cpu: '2'}"},
		{"from min", "spec.limits: [{type: Container, max: {cpu: 2}, min: {cpu: 1}}]", "spec.limits[0].defaultRequest: {cpu: '2'}"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "l  0001-01-01T00:00:00Z"}})
}

const account = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot, namespace: default}
secrets: [{name: a}]
`

func TestServiceAccount(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), account)
	k.Create(t, []resourcetest.Case{{"valid", ""}, {"name", "metadata.name: A_",
		`metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must`}, {"malformed annotation", "metadata.annotations: {'a b': c}",
		`metadata.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with`}})
	k.Update(t, []resourcetest.Case{{"secrets", "secrets: ~"}, {"malformed label", "metadata.labels: {a: 'b c'}",
		`metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and`}})
	k.Rows(t, []resourcetest.Case{{"row", "", "robot  <unknown>"}})
}
