package dynamicresources_test

import (
	"testing"

	"fairlead.dev/internal/resource/dynamicresources"
	"fairlead.dev/internal/resource/resourcetest"
)

const claimTemplate = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: mine, namespace: default}
spec:
  metadata: {labels: {a: b}}
  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
`

func TestResourceClaimTemplate(t *testing.T) {
	k := resourcetest.New(t, dynamicresources.Resources(), claimTemplate)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: A",
			`metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"label", "spec.metadata.labels: {'a b': c}",
			`spec.metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{"annotation", "spec.metadata.annotations: {'a b': c}",
			`spec.metadata.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{"no requests", "spec.spec.devices.requests: []"},
		{"no name of a request", "spec.spec.devices.requests[0].name: ''",
			`spec.spec.devices.requests[0].name: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		{"name of a request", "spec.spec.devices.requests[0].name: A",
			`spec.spec.devices.requests[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		{"no class", "spec.spec.devices.requests[0].exactly.deviceClassName: ''",
			"spec.spec.devices.requests[0].exactly.deviceClassName: Required value"},
		{"class", "spec.spec.devices.requests[0].exactly.deviceClassName: a_b",
			`spec.spec.devices.requests[0].exactly.deviceClassName: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"neither kind of request", "spec.spec.devices.requests[0].exactly: ~",
			"spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"},
		{"mode", "spec.spec.devices.requests[0].exactly.allocationMode: Some",
			`spec.spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`},
		{"count", "spec.spec.devices.requests[0].exactly.count: -1",
			"spec.spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"},
		{"count of all", "spec.spec.devices.requests[0].exactly: {deviceClassName: a, allocationMode: All, count: 2}",
			"spec.spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"},
		{"constraint", "spec.spec.devices.constraints: [{requests: [other], matchAttribute: example.com/a}]",
			`spec.spec.devices.constraints[0].requests[0]: Invalid value: "other": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"class", "spec.spec.devices.requests[0].exactly.deviceClassName: other",
			"spec: Invalid value: {"},
	})
}
