package dynamicresources_test

import (
	"testing"

	"fairlead.dev/internal/resource/dynamicresources"
	"fairlead.dev/internal/resource/resourcetest"
)

const claim = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec:
  devices:
    requests: [{name: one, exactly: {deviceClassName: gpu, count: 2, allocationMode: ExactCount}}]
`

func TestResourceClaim(t *testing.T) {
	k := resourcetest.New(t, dynamicresources.Resources(), claim)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no class", "spec.devices.requests[0].exactly.deviceClassName: ''",
			"spec.devices.requests[0].exactly.deviceClassName: Required value"},
		{"class", "spec.devices.requests[0].exactly.deviceClassName: A_",
			`spec.devices.requests[0].exactly.deviceClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case`},
		{"mode", "spec.devices.requests[0].exactly.allocationMode: Some",
			`spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`},
		{"no devices", "spec.devices.requests[0].exactly.count: -1",
			"spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"},
		{"count of all", "spec.devices.requests[0].exactly.allocationMode: All",
			"spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"},
		{"request name", "spec.devices.requests[0].name: A_",
			`spec.devices.requests[0].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',`},
		{"request twice", "spec.devices.requests[1]: {name: one, exactly: {deviceClassName: gpu}}",
			`spec.devices.requests[1]: Duplicate value: {"name":"one","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}`},
		{"request of nothing", "spec.devices.requests[0]: {name: one}",
			"spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"},
		{"request of both", "spec.devices.requests[0].firstAvailable: [{name: a, deviceClassName: gpu}]",
			"spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"},
		{"selector that does not compile", "spec.devices.requests[0].exactly.selectors: [{cel: {expression: 'a +'}}]",
			`spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "a +": compilation failed: ERROR: <input>:1:4: Syntax error:`},
		{"selector of nothing", "spec.devices.requests[0].exactly.selectors: [{}]",
			"spec.devices.requests[0].exactly.selectors[0].cel: Required value"},
		{"constraint of nothing", "spec.devices.constraints: [{requests: [one]}]",
			`spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`},
		{"constraint of an unknown request", "spec.devices.constraints: [{requests: [two], matchAttribute: example.com/a}]",
			`spec.devices.constraints[0].requests[0]: Invalid value: "two": must be the name of a request in the claim or the name of a request and a`},
		{"constraint of a short attribute", "spec.devices.constraints: [{matchAttribute: a}]",
			`spec.devices.constraints[0].matchAttribute: Invalid value: "a": a fully qualified name must be a domain and a name separated by a slash`},
		{"configuration of nothing", "spec.devices.config: [{requests: [one]}]",
			"spec.devices.config[0].opaque: Required value"},
		{"configuration's driver", "spec.devices.config: [{opaque: {driver: a_b, parameters: {a: 1}}}]",
			`spec.devices.config[0].opaque.driver: Invalid value: "a_b": an RFC 1123 subdomain must consist of alphanumeric`},
		{"toleration", "spec.devices.requests[0].exactly.tolerations: [{key: a, operator: Exists, value: b}]",
			"spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: \"b\": must be empty for operator `Exists`"},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}, {"spec", "spec.devices.requests[0].exactly.count: 3",
		"spec: Invalid value: null: field is immutable"}})
	k.Defaults(t, []resourcetest.Case{
		{"one device", "spec.devices.requests[0].exactly: {deviceClassName: gpu}", "spec.devices.requests[0].exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}"},
		{"toleration", "spec.devices.requests[0].exactly.tolerations: [{key: a}]", "spec.devices.requests[0].exactly.tolerations[0].operator: Equal"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "status: {reservedFor: [{resource: pods, name: a, uid: b}]}", "status: {}"}})
}

// TestDeallocation: a status update that takes a device from a claim takes the driver's report on it, too.
func TestDeallocation(t *testing.T) {
	const device = "driver: example.com, pool: n1, device: "
	k := resourcetest.New(t, dynamicresources.Resources(), claim+`status:
  allocation: {devices: {results: [{request: one, `+device+`a}, {request: one, `+device+`b}]}}
  devices: [{`+device+`a}, {`+device+`b}]
`)
	k.Reported(t, []resourcetest.Case{
		{"all", "status.allocation: null", "status: {}"},
		{"one", "status.allocation.devices.results: [{request: one, " + device + "b}]",
			"status: {allocation: {devices: {results: [{request: one, " + device + "b}]}}, devices: [{" + device + "b, conditions: null}]}"},
		{"none", "status.reservedFor: [{resource: pods, name: a, uid: b}]", "status.reservedFor: [{resource: pods, name: a, uid: b}]"},
	})
}

const slice = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: example.com
  nodeName: n1
  pool: {name: n1, resourceSliceCount: 1, generation: 1}
  devices: [{name: a, attributes: {model: {string: x}}, capacity: {memory: {value: 1Gi}}}]
`

func TestResourceSlice(t *testing.T) {
	k := resourcetest.New(t, dynamicresources.Resources(), slice)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"driver", "spec.driver: a_b",
			`spec.driver: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must`},
		{"no node", "spec.nodeName: ~",
			"spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"},
		{"node and all", "spec.allNodes: true",
			"spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is"},
		{"pool", "spec.pool: {name: 'A_', resourceSliceCount: 0, generation: -1}",
			"spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
			`spec.pool.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`,
			"spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"},
		{"no pool name", "spec.pool.name: ''",
			"spec.pool.name: Required value"},
		{"device name", "spec.devices[0].name: A_",
			`spec.devices[0].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must`},
		{"device twice", "spec.devices[1]: {name: a}",
			`spec.devices[1]: Duplicate value: "a"`},
		{"attribute of nothing", "spec.devices[0].attributes: {a: {}}",
			`spec.devices[0].attributes[a]: Invalid value: "": must specify one of: `},
		{"attribute of two kinds", "spec.devices[0].attributes: {a: {int: 1, bool: true}}",
			`spec.devices[0].attributes[a]: Invalid value: "{int, bool}": must specify exactly one of: `},
		{"attribute name", "spec.devices[0].attributes: {'a b': {int: 1}}",
			`spec.devices[0].attributes: Invalid value: "a b": a valid C identifier must start with alphabetic character or '_', followed by a string of`},
		{"version", "spec.devices[0].attributes: {a: {version: one}}",
			`spec.devices[0].attributes[a].version: Invalid value: "one": must be a string compatible with semver.org spec 2.0.0`},
		{"capacity name", "spec.devices[0].capacity: {'a b': {value: 1}}",
			`spec.devices[0].capacity: Invalid value: "a b": a valid C identifier must start with alphabetic character or '_', followed by a string of`},
	})
	k.Update(t, []resourcetest.Case{{"devices", "spec.devices: []"}, {"driver", "spec.driver: other.example.com",
		`spec.driver: Invalid value: "other.example.com": field is immutable`}, {"node", "spec.nodeName: n2",
		`spec.nodeName: Invalid value: "n2": field is immutable`}, {"pool", "spec.pool.name: other",
		`spec.pool.name: Invalid value: "other": field is immutable`}})
	k.Created(t, []resourcetest.Case{{"generation", "", "metadata.generation: 1"}})
}

const class = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "true"}}]}
`

func TestDeviceClass(t *testing.T) {
	k := resourcetest.New(t, dynamicresources.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: A_",
			`metadata.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must`},
		{"selector of nothing", "spec.selectors: [{}]",
			"spec.selectors[0].cel: Required value"},
		{"selector that is no condition", "spec.selectors: [{cel: {expression: '1'}}]",
			`spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int`},
		{"configuration", "spec.config: [{opaque: {driver: '', parameters: ~}}]",
			"spec.config[0].opaque.driver: Required value",
			"spec.config[0].opaque.parameters: Required value"},
	})
	k.Update(t, []resourcetest.Case{{"selectors", "spec.selectors: []"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "gpu  <unknown>"}})
}
