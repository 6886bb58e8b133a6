package apiregistration_test

import (
	"testing"

	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/resource/resourcetest"
)

const service = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec:
  group: example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: default, name: api}
`

func TestAPIService(t *testing.T) {
	k := resourcetest.New(t, apiregistration.Resources(), service)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: v2.example.com",
			"metadata.name: Invalid value: \"v2.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.example.com\""},
		{"no group", "spec.group: ''",
			"metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.\""},
		{"group", "spec.group: a_b",
			"metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.a_b\"",
			`spec.group: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"version", "spec.version: V1",
			"metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \"V1.example.com\"",
			`spec.version: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"no version", "spec.version: ''",
			"metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \".example.com\"",
			`spec.version: Invalid value: "": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"no priority of the group", "spec.groupPriorityMinimum: 0",
			"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"},
		{"priority of the group", "spec.groupPriorityMinimum: 20001",
			"spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000"},
		{"negative priority of the version", "spec.versionPriority: -1",
			"spec.versionPriority: Invalid value: -1: must be positive and less than 1000"},
		{"priority of the version", "spec.versionPriority: 1001",
			"spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"},
		{"local", "{spec.service: ~, spec.insecureSkipTLSVerify: ~}"},
		{"local without verification", "spec.service: ~",
			"spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"},
		{"local with a bundle", "{spec.service: ~, spec.insecureSkipTLSVerify: ~, spec.caBundle: YQ==}",
			`spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle`},
		{"bundle without verification", "spec.caBundle: YQ==",
			"spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"},
		{"bundle", "{spec.insecureSkipTLSVerify: ~, spec.caBundle: YQ==}"},
		{"service without a namespace", "spec.service.namespace: ''",
			"spec.service.namespace: Required value"},
		{"service without a name", "spec.service.name: ''",
			"spec.service.name: Required value"},
		{"port", "spec.service.port: 70000",
			"spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive"},
		{"port zero", "spec.service.port: 0",
			"spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"},
	})
	k.Update(t, []resourcetest.Case{
		{"service", "spec.service.name: other"},
		{"group", "spec.group: other.example.com",
			"metadata.name: Invalid value: \"v1.example.com\": must be `spec.version+\".\"+spec.group`: \"v1.other.example.com\""},
		{"priority", "spec.groupPriorityMinimum: 0",
			"spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"},
	})
	k.Status(t, []resourcetest.Case{
		{"condition", "status.conditions: [{type: Available, status: 'True'}]"},
		{"unknown status", "status.conditions: [{type: Available, status: Maybe}]",
			`status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`},
		{"no status", "status.conditions: [{type: Available}]",
			`status.conditions[0].status: Unsupported value: "": supported values: "True", "False", "Unknown"`},
	})
}
