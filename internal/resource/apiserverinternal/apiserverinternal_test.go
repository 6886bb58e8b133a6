package apiserverinternal_test

import (
	"testing"

	"fairlead.dev/internal/resource/apiserverinternal"
	"fairlead.dev/internal/resource/resourcetest"
)

const version = `
apiVersion: internal.apiserver.k8s.io/v1alpha1
kind: StorageVersion
metadata: {name: apps.deployments}
spec: {}
status:
  commonEncodingVersion: apps/v1
  storageVersions: [{apiServerID: a, encodingVersion: apps/v1, decodableVersions: [apps/v1], servedVersions: [apps/v1]}]
`

func TestStorageVersion(t *testing.T) {
	k := resourcetest.New(t, apiserverinternal.Resources(), version)
	k.Create(t, []resourcetest.Case{{"valid", ""}})
	k.Created(t, []resourcetest.Case{{"no status", "", "status.commonEncodingVersion: ~"}})
	k.Status(t, []resourcetest.Case{
		{"valid", ""},
		{"twice", "status.storageVersions: [{apiServerID: a, encodingVersion: v1, decodableVersions: [v1]}, {apiServerID: a, encodingVersion: v1, decodableVersions: [v1]}]\nstatus.commonEncodingVersion: v1",
			`status.storageVersions[1].apiServerID: Duplicate value: "a"`},
		{"versions", "status.storageVersions: [{apiServerID: a, encodingVersion: a/b/c, decodableVersions: [/v1], servedVersions: [v2]}]\nstatus.commonEncodingVersion: a/b/c",
			`status.storageVersions[0].decodableVersions: Invalid value: ["/v1"]: decodableVersions must include encodingVersion a/b/c`,
			`status.storageVersions[0].decodableVersions[0]: Invalid value: "/v1": group part: must be non-empty`,
			`status.storageVersions[0].encodingVersion: Invalid value: "a/b/c": an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`,
			`status.storageVersions[0].servedVersions[0]: Invalid value: "v2": individual served version : v2 must be included in decodableVersions : [/v1]`},
		{"common", "status.commonEncodingVersion: v2",
			`status.commonEncodingVersion: Invalid value: "v2": the actual common encoding version is apps/v1`},
		{"no common", "status.commonEncodingVersion: ~",
			`status.commonEncodingVersion: Invalid value: null: the common encoding version is apps/v1`},
		{"condition", "status.conditions: [{type: A, status: 'True'}]",
			"status[0].message: Required value", "status[0].reason: Required value"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "apps.deployments  apps/v1  a=apps/v1  <unknown>"}})
}
