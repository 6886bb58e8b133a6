package admissionregistration_test

import (
	"testing"

	"fairlead.dev/internal/resource/admissionregistration"
	"fairlead.dev/internal/resource/resourcetest"
)

const mutatingWebhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mine}
webhooks:
- name: a.example.com
  clientConfig: {service: {namespace: a, name: b}}
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
`

func TestMutatingWebhookConfiguration(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), mutatingWebhooks)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "webhooks[0].name: a",
			`webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots`},
		{"reinvocation", "webhooks[0].reinvocationPolicy: IfNeeded"},
		{"unknown reinvocation", "webhooks[0].reinvocationPolicy: Some",
			`webhooks[0].reinvocationPolicy: Unsupported value: "Some": supported values: "IfNeeded", "Never"`},
		{"no side effects", "webhooks[0].sideEffects: ~",
			"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"},
		{"no address", "webhooks[0].clientConfig: {}",
			"webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{"service without a name", "webhooks[0].clientConfig.service.name: ''",
			"webhooks[0].clientConfig.service.namespace: Required value"},
		{"service without a namespace", "webhooks[0].clientConfig.service.namespace: ''",
			"webhooks[0].clientConfig.service.name: Required value"},
		{"port", "webhooks[0].clientConfig.service.port: 70000",
			"webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive"},
		{"path", "webhooks[0].clientConfig.service.path: a",
			`webhooks[0].clientConfig.service.path: Invalid value: "a": must start with a '/'`,
			`webhooks[0].clientConfig.service.path: Invalid value: "a": segment[0] may not be empty`},
		{"failure policy", "webhooks[0].failurePolicy: Some",
			`webhooks[0].failurePolicy: Unsupported value: "Some": supported values: "Fail", "Ignore"`},
		{"timeout", "webhooks[0].timeoutSeconds: 0",
			"webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"},
		{"no versions", "webhooks[0].admissionReviewVersions: []",
			"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
		{"operation", "webhooks[0].rules[0].operations: [READ]",
			`webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`},
	})
	k.Update(t, []resourcetest.Case{
		{"reinvocation", "webhooks[0].reinvocationPolicy: Some",
			`webhooks[0].reinvocationPolicy: Unsupported value: "Some": supported values: "IfNeeded", "Never"`},
		{"timeout", "webhooks[0].timeoutSeconds: 31",
			"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"},
	})
}
