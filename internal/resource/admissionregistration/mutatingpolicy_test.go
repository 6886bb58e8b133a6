package admissionregistration_test

import (
	"testing"

	"fairlead.dev/internal/resource/admissionregistration"
	"fairlead.dev/internal/resource/resourcetest"
)

// The errors are those of kube-apiserver 1.36.3. Errors in expressions are tested with admission.
func TestMutatingAdmissionPolicy(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: one}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{}'}}]
`)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"default failure policy", "spec.failurePolicy: ~"},
		{"failure policy", "spec.failurePolicy: Maybe",
			`spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"`},
		{"no reinvocation policy", "spec.reinvocationPolicy: ''", "spec.reinvocationPolicy: Required value"},
		{"reinvocation policy", "spec.reinvocationPolicy: Always",
			`spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`},
		{"no constraints", "spec.matchConstraints: ~", "spec.matchConstraints: Required value"},
		{"no rules", "spec.matchConstraints.resourceRules: []", "spec.matchConstraints.resourceRules: Required value"},
		{"deletions", "spec.matchConstraints.resourceRules[0].operations: [DELETE]",
			`spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
		{"connections", "spec.matchConstraints.resourceRules[0].operations: [CONNECT]"},
		{"all operations", "spec.matchConstraints.resourceRules[0].operations: ['*']"},
		{"no mutations", "spec.mutations: []", "spec.mutations: Required value: mutations must contain at least one item"},
		{"no type", "spec.mutations[0].patchType: ~", "spec.mutations[0].patchType: Required value"},
		{"type", "spec.mutations[0].patchType: Merge",
			`spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`},
		{"no configuration", "spec.mutations[0].applyConfiguration: ~",
			"spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration"},
		{"empty configuration", "spec.mutations[0].applyConfiguration.expression: ' '",
			"spec.mutations[0].applyConfiguration.expression: Required value"},
		{"both", "spec.mutations[0].jsonPatch: {expression: '[]'}",
			`spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`},
		{"no patch", "spec.mutations[0]: {patchType: JSONPatch}",
			"spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch"},
		{"empty patch", "spec.mutations[0]: {patchType: JSONPatch, jsonPatch: {expression: ''}}",
			"spec.mutations[0].jsonPatch.expression: Required value"},
		{"configuration as a patch", "spec.mutations[0]: {patchType: JSONPatch, applyConfiguration: {expression: 'Object{}'}}",
			`spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
			"spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch"},
		{"variable twice", "spec.variables: [{name: a, expression: '1'}, {name: a, expression: '2'}]"},
		{"name of a variable", "spec.variables: [{name: 1a, expression: '1'}]",
			`spec.variables[0].name: Invalid value: "1a": must be a valid CEL identifier`},
		{"variable without an expression", "spec.variables: [{name: a, expression: ''}]",
			"spec.variables[0].expression: Required value: expression is not specified"},
		{"condition without an expression", "spec.matchConditions: [{name: a, expression: ''}]",
			"spec.matchConditions[0].expression: Required value"},
		{"condition twice", "spec.matchConditions: [{name: a, expression: 'true'}, {name: a, expression: 'true'}]",
			`spec.matchConditions[1].name: Duplicate value: "a"`},
		{"parameters", "spec.paramKind: {apiVersion: v1, kind: ConfigMap}"},
		{"empty kind of parameters", "spec.paramKind: {apiVersion: '', kind: ''}",
			"spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"},
		{"version of parameters", "spec.paramKind: {apiVersion: a/b/c, kind: X}",
			`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`},
	})
	k.Update(t, []resourcetest.Case{
		{"expression", "spec.mutations[0].applyConfiguration.expression: 'Object{metadata: Object.metadata{}}'"},
		{"no mutations", "spec.mutations: []", "spec.mutations: Required value: mutations must contain at least one item"},
	})
}

func TestMutatingAdmissionPolicyBinding(t *testing.T) {
	k := resourcetest.New(t, admissionregistration.Resources(), `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: one}
spec: {policyName: one}
`)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no policy", "spec.policyName: ''", "spec.policyName: Required value"},
		{"parameters", "spec.paramRef: {name: a, parameterNotFoundAction: Deny}"},
		{"parameters of nothing", "spec.paramRef: {parameterNotFoundAction: Deny}",
			"spec.paramRef: Required value: one of name or selector must be specified"},
		{"parameters of both", "spec.paramRef: {name: a, selector: {}, parameterNotFoundAction: Deny}",
			"spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
			"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive"},
		{"action for missing parameters", "spec.paramRef: {name: a, parameterNotFoundAction: Maybe}",
			`spec.paramRef.parameterNotFoundAction: Unsupported value: "Maybe": supported values: "Deny", "Allow"`},
		{"deletions", "spec.matchResources: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}",
			`spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`},
	})
}
