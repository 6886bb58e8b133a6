package storagemigration_test

import (
	"testing"

	"fairlead.dev/internal/resource/resourcetest"
	"fairlead.dev/internal/resource/storagemigration"
)

const migration = `
apiVersion: storagemigration.k8s.io/v1
kind: StorageVersionMigration
metadata: {name: secrets}
spec: {resource: {group: example.com, resource: secrets}}
`

// done is a migration that has succeeded.
const done = migration + `
status:
  resourceVersion: '12'
  conditions: [{type: Succeeded, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}]
`

const (
	succeeded = `{type: Succeeded, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
	failed    = `{type: Failed, status: 'True', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
	retracted = `{type: Succeeded, status: 'False', lastTransitionTime: '2026-11-23T00:00:00Z', reason: R, message: ''}`
)

// The errors are those of kube-apiserver 1.36.3, which has the kind as v1beta1.
func TestStorageVersionMigration(t *testing.T) {
	k := resourcetest.New(t, storagemigration.Resources(), migration)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"core group", "spec.resource.group: ''"},
		{"no resource", "spec.resource.resource: ''",
			"spec.resource.resource: Required value: resource is required to be set"},
		{"resource", "spec.resource.resource: A_b",
			`spec.resource.resource: Invalid value: "A_b": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"group", "spec.resource.group: a_b",
			`spec.resource.group: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"resource", "spec.resource.resource: pods",
			`spec: Invalid value: {"Resource":{"group":"example.com","resource":"pods"}}: field is immutable`},
	})
	k.Status(t, []resourcetest.Case{
		{"resource version", "status.resourceVersion: '12'"},
		{"malformed resource version", "status.resourceVersion: a",
			`status.resourceVersion: Invalid value: "a": resource version is not well formed: a`},
		{"resource version zero", "status.resourceVersion: '0'",
			`status.resourceVersion: Invalid value: "0": resource version is not well formed: 0`},
		{"both outcomes", "status.conditions: [" + succeeded + ", " + failed + "]",
			`status.conditions: Invalid value: [{"type":"Succeeded","status":"True","lastTransitionTime":"2026-11-23T00:00:00Z","reason":"R","message":""},{"type":"Failed","status":"True","lastTransitionTime":"2026-11-23T00:00:00Z","reason":"R","message":""}]: Both success and failed conditions cannot be true at the same time`},
		{"condition", "status.conditions: [{type: Running, status: Maybe, lastTransitionTime: '2026-11-23T00:00:00Z', reason: R}]",
			`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`},
	})
	resourcetest.New(t, storagemigration.Resources(), done).Status(t, []resourcetest.Case{
		{"other resource version", "status.resourceVersion: '13'",
			`status.resourceVersion: Invalid value: "13": field is immutable`},
		{"no resource version", "status.resourceVersion: ~",
			`status.resourceVersion: Invalid value: "": field is immutable`},
		{"retracted", "status.conditions: [" + retracted + "]",
			`status.conditions: Invalid value: [{"type":"Succeeded","status":"False","lastTransitionTime":"2026-11-23T00:00:00Z","reason":"R","message":""}]: Success condition cannot be set to false once it is true`},
	})
}
