package admissionregistration_test

import (
	"testing"

	"fairlead.dev/internal/resource/admissionregistration"
	"fairlead.dev/internal/resource/resourcetest"
)

const webhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: mine}
webhooks:
- name: a.example.com
  clientConfig: {url: "https://example.com/a"}
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
`

func TestValidatingWebhookConfiguration(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), webhooks)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "webhooks[0].name: a",
			`webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots`},
		{"no name", "webhooks[0].name: ''",
			"webhooks[0].name: Required value"},
		{"name twice", "webhooks[1]: {name: a.example.com, clientConfig: {url: 'https://example.com/b'}, sideEffects: None, admissionReviewVersions: [v1]}",
			`webhooks[1].name: Duplicate value: "a.example.com"`},
		{"no side effects", "webhooks[0].sideEffects: ~",
			"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"},
		{"side effects", "webhooks[0].sideEffects: Some",
			`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`},
		{"no versions", "webhooks[0].admissionReviewVersions: []",
			"webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
		{"unknown versions", "webhooks[0].admissionReviewVersions: [v9]",
			`webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`},
		{"no address", "webhooks[0].clientConfig: {}",
			"webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{"two addresses", "webhooks[0].clientConfig.service: {namespace: a, name: b}",
			"webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{"address in the clear", "webhooks[0].clientConfig.url: http://example.com",
			`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`},
		{"address with a user", "webhooks[0].clientConfig.url: https://a@example.com",
			`webhooks[0].clientConfig.url: Invalid value: "a": user information is not permitted in the URL`},
		{"address with a query", "webhooks[0].clientConfig.url: https://example.com?a=b",
			`webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`},
		{"failure policy", "webhooks[0].failurePolicy: Some",
			`webhooks[0].failurePolicy: Unsupported value: "Some": supported values: "Fail", "Ignore"`},
		{"match policy", "webhooks[0].matchPolicy: Some",
			`webhooks[0].matchPolicy: Unsupported value: "Some": supported values: "Equivalent", "Exact"`},
		{"timeout", "webhooks[0].timeoutSeconds: 31",
			"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"},
		{"selectors", "webhooks[0].namespaceSelector: {matchLabels: {'a b': c}}",
			`webhooks[0].namespaceSelector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and`},
		{"no groups", "webhooks[0].rules[0].apiGroups: []",
			"webhooks[0].rules[0].apiGroups: Required value"},
		{"group and all", "webhooks[0].rules[0].apiGroups: ['*', apps]",
			`webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`},
		{"no versions of a rule", "webhooks[0].rules[0].apiVersions: []",
			"webhooks[0].rules[0].apiVersions: Required value"},
		{"operation", "webhooks[0].rules[0].operations: [READ]",
			`webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`},
		{"no operations", "webhooks[0].rules[0].operations: []",
			"webhooks[0].rules[0].operations: Required value"},
		{"operation and all", "webhooks[0].rules[0].operations: ['*', CREATE]",
			`webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`},
		{"no resources", "webhooks[0].rules[0].resources: []",
			"webhooks[0].rules[0].resources: Required value"},
		{"resource and all", "webhooks[0].rules[0].resources: ['*', pods]",
			`webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`},
		{"subresource and all", "webhooks[0].rules[0].resources: ['*/*', pods/status]",
			`webhooks[0].rules[0].resources: Invalid value: ["*/*","pods/status"]: if '*/*' is present, must not specify other resources`},
		{"scope", "webhooks[0].rules[0].scope: Some",
			`webhooks[0].rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"`},
		{"condition", "webhooks[0].matchConditions: [{name: a, expression: 'true'}]"},
		{"condition without a name", "webhooks[0].matchConditions: [{name: '', expression: ''}]",
			"webhooks[0].matchConditions[0].expression: Required value",
			"webhooks[0].matchConditions[0].name: Required value"},
		{"condition twice", "webhooks[0].matchConditions: [{name: a, expression: 'true'}, {name: a, expression: 'true'}]",
			`webhooks[0].matchConditions[1].name: Duplicate value: "a"`},
	})
	k.Update(t, []resourcetest.Case{{"timeout", "webhooks[0].timeoutSeconds: 5"}, {"no side effects", "webhooks[0].sideEffects: Unknown",
		`webhooks[0].sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"`}})
	k.Defaults(t, []resourcetest.Case{
		{"webhook", "", "webhooks[0].failurePolicy: Fail", "webhooks[0].matchPolicy: Equivalent", "webhooks[0].timeoutSeconds: 10", "webhooks[0].namespaceSelector: {}", "webhooks[0].rules[0].scope: '*'"},
		{"service", "webhooks[0].clientConfig: {service: {namespace: a, name: b}}", "webhooks[0].clientConfig.service.port: 443"},
	})
	k.Created(t, []resourcetest.Case{{"generation", "", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"timeout", "webhooks[0].timeoutSeconds: 5", "metadata.generation: 2"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "mine  1  <unknown>"}})
}

const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: mine}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "true"}]
`

func TestValidatingAdmissionPolicy(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), policy)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no constraints", "spec.matchConstraints: ~",
			"spec.matchConstraints: Required value"},
		{"no rules", "spec.matchConstraints.resourceRules: []",
			"spec.matchConstraints.resourceRules: Required value"},
		{"no validations", "spec.validations: []",
			"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
			"spec.validations: Required value: validations or auditAnnotations must contain at least one item"},
		{"no expression", "spec.validations[0].expression: ''",
			"spec.validations[0].expression: Required value: expression is not specified"},
		{"failure policy", "spec.failurePolicy: Some",
			`spec.failurePolicy: Unsupported value: "Some": supported values: "Fail", "Ignore"`},
		{"parameters", "spec.paramKind: {apiVersion: '', kind: ''}",
			"spec.paramKind.apiVersion: Required value",
			"spec.paramKind.kind: Required value"},
		{"variable without a name", "spec.variables: [{name: '', expression: ''}]",
			"spec.variables[0].expression: Required value: expression is not specified",
			"spec.variables[0].name: Required value: name is not specified"},
		{"annotation", "spec.auditAnnotations: [{key: '', valueExpression: ''}]",
			`spec.auditAnnotations[0].key: Invalid value: "mine/": name part must be non-empty`,
			`spec.auditAnnotations[0].key: Invalid value: "mine/": name part must consist of alphanumeric characters, '-', '_' or '.', and must start`,
			"spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"},
		{"condition", "spec.matchConditions: [{name: 'a b', expression: 'true'}]",
			`spec.matchConditions[0].name: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and`},
		{"operation", "spec.matchConstraints.resourceRules[0].operations: [READ]",
			`spec.matchConstraints.resourceRules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`},
	})
	k.Update(t, []resourcetest.Case{{"expression", "spec.validations[0].expression: 'false'"}, {"no validations", "spec.validations: []",
		"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
		"spec.validations: Required value: validations or auditAnnotations must contain at least one item"}})
	k.Defaults(t, []resourcetest.Case{{"policy", "", "spec.failurePolicy: Fail", "spec.matchConstraints.matchPolicy: Equivalent", "spec.matchConstraints.resourceRules[0].scope: '*'"}})
}

const binding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: mine}
spec: {policyName: mine, validationActions: [Deny]}
`

func TestValidatingAdmissionPolicyBinding(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), binding)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no policy", "spec.policyName: ''",
			"spec.policyName: Required value"},
		{"policy", "spec.policyName: A_",
			`spec.policyName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"no actions", "spec.validationActions: []",
			"spec.validationActions: Required value"},
		{"action", "spec.validationActions: [Some]",
			`spec.validationActions[0]: Unsupported value: "Some": supported values: "Audit", "Deny", "Warn"`},
		{"action twice", "spec.validationActions: [Deny, Deny]",
			`spec.validationActions[1]: Duplicate value: "Deny"`},
		{"deny and warn", "spec.validationActions: [Deny, Warn]",
			`spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure`},
		{"parameters of nothing", "spec.paramRef: {parameterNotFoundAction: Deny}",
			"spec.paramRef: Required value: one of name or selector must be specified"},
		{"parameters of both", "spec.paramRef: {name: a, selector: {}, parameterNotFoundAction: Deny}",
			"spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
			"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive"},
		{"no action for missing parameters", "spec.paramRef: {name: a}",
			"spec.paramRef.parameterNotFoundAction: Required value"},
		{"action for missing parameters", "spec.paramRef: {name: a, parameterNotFoundAction: Some}",
			`spec.paramRef.parameterNotFoundAction: Unsupported value: "Some": supported values: "Deny", "Allow"`},
	})
	k.Update(t, []resourcetest.Case{{"actions", "spec.validationActions: [Audit]"}, {"no actions", "spec.validationActions: []",
		"spec.validationActions: Required value"}})
}
