package apiextensions_test

import (
	"testing"

	"fairlead.dev/internal/resource/apiextensions"
	"fairlead.dev/internal/resource/resourcetest"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

func TestCustomResourceDefinition(t *testing.T) {
	k := resourcetest.New(t, apiextensions.Resources(), definition)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: gadgets.example.com",
			`metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group`},
		{"no group", "spec.group: ''",
			`metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group`,
			"spec.group: Required value"},
		{"group of one part", "{metadata.name: widgets.example, spec.group: example}",
			`spec.group: Invalid value: "example": should be a domain with at least one dot`},
		{"no scope", "spec.scope: ''",
			"spec.scope: Required value"},
		{"scope", "spec.scope: Some",
			`spec.scope: Unsupported value: "Some": supported values: "Cluster", "Namespaced"`},
		{"no plural", "spec.names.plural: ''",
			`metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group`,
			"spec.names.plural: Required value"},
		{"no kind", "spec.names.kind: ''",
			"spec.names.kind: Required value"},
		{"kind", "spec.names.kind: a b",
			`spec.names.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"list kind", "spec.names.listKind: Widget",
			`spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same`},
		{"short name", "spec.names.shortNames: [A]",
			`spec.names.shortNames[0]: Invalid value: "A": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"category", "spec.names.categories: [a b]",
			`spec.names.categories[0]: Invalid value: "a b": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"no versions", "spec.versions: []",
			"spec.versions: Invalid value: []: must have exactly one version marked as storage version",
			"status.storedVersions: Invalid value: null: must have at least one stored version"},
		{"name of a version", "spec.versions[0].name: V1",
			`spec.versions[0].name: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
			`spec.version: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`},
		{"not stored", "spec.versions[0].storage: false",
			`spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version`,
			"status.storedVersions: Invalid value: null: must have at least one stored version"},
		{"no schema", "spec.versions[0].schema: ~",
			"spec.versions[0].schema.openAPIV3Schema: Required value"},
		{"schema of no type", "spec.versions[0].schema.openAPIV3Schema.type: ~",
			"spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"},
		{"schema of another type", "spec.versions[0].schema.openAPIV3Schema: {type: string}",
			`spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root`},
		{"field of no type", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.type: ~",
			"spec.validation.openAPIV3Schema.properties[spec].properties[size].type: Required value: must not be empty for specified object fields"},
		{"field of an unknown type", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.type: number32",
			`spec.validation.openAPIV3Schema.properties[spec].properties[size].type: Unsupported value: "number32": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		{"list without items", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size: {type: array}",
			"spec.validation.openAPIV3Schema.properties[spec].properties[size].items: Required value: must be specified"},
		{"pattern", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size: {type: string, pattern: '('}",
			"spec.validation.openAPIV3Schema.properties[spec].properties[size].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"},
		{"default", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.default: a",
			`spec.validation.openAPIV3Schema.properties[spec].properties[size].default: Invalid value: "string":  in body must be of type integer: "string"`},
		{"good default", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.default: 3"},
		{"map of lists by key", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size: {type: array, items: {type: object, properties: {a: {type: string}}}, x-kubernetes-list-type: map}",
			"spec.validation.openAPIV3Schema.properties[spec].properties[size].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"},
		{"list type", "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size: {type: array, items: {type: string}, x-kubernetes-list-type: some}",
			`spec.validation.openAPIV3Schema.properties[spec].properties[size].x-kubernetes-list-type: Unsupported value: "some": supported values: "atomic", "set", "map"`},
		{"properties and additional", "spec.versions[0].schema.openAPIV3Schema.properties.spec.additionalProperties: {type: string}",
			"spec.validation.openAPIV3Schema.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"},
		{"rule", "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations: [{rule: 'self.size > 1'}]"},
		{"rule that does not compile", "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations: [{rule: 'self.none > 1'}]",
			`spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.none \u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'none'
 | self.none > 1
 | ....^`},
		{"no rule", "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations: [{rule: ''}]",
			"spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified"},
		{"path of a column", "spec.versions[0].additionalPrinterColumns: [{name: a, type: string, jsonPath: spec.size}]",
			`spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec.size": must be a simple json path starting with .`},
		{"type of a column", "spec.versions[0].additionalPrinterColumns: [{name: a, type: text, jsonPath: .spec.size}]",
			`spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string`},
		{"scale without a path", "spec.versions[0].subresources: {scale: {specReplicasPath: '', statusReplicasPath: .status.replicas}}",
			"spec.subresources.scale.specReplicasPath: Required value"},
		{"path of the scale", "spec.versions[0].subresources: {scale: {specReplicasPath: .status.a, statusReplicasPath: .status.replicas}}",
			`spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec`},
		{"conversion", "spec.conversion: {strategy: Some}",
			`spec.conversion.strategy: Unsupported value: "Some": supported values: "None", "Webhook"`},
		{"webhook without an address", "spec.conversion: {strategy: Webhook, webhook: {clientConfig: {}, conversionReviewVersions: [v1]}}",
			"spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"},
		{"webhook without versions", "spec.conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'https://example.com'}, conversionReviewVersions: []}}",
			"spec.conversion.conversionReviewVersions: Required value"},
		{"no webhook", "spec.conversion: {strategy: Webhook}",
			"spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
			"spec.conversion.conversionReviewVersions: Required value"},
		{"webhook of no strategy", "spec.conversion: {strategy: None, webhook: {clientConfig: {url: 'https://example.com'}, conversionReviewVersions: [v1]}}",
			"spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
			"spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook"},
		{"unknown fields kept", "spec.preserveUnknownFields: true",
			"spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
		{"selectable field", "spec.versions[0].selectableFields: [{jsonPath: .spec.size}]"},
		{"selectable field without a schema", "spec.versions[0].selectableFields: [{jsonPath: .spec.none}]",
			`spec.selectableFields[0].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field`},
	})
	k.Update(t, []resourcetest.Case{
		{"scope", "spec.scope: Cluster"},
		{"group", "spec.group: other.example.com",
			`spec.group: Invalid value: "other.example.com": field is immutable`},
		{"short names", "spec.names.shortNames: [w]"},
	})
}
