package main

import (
	"encoding/json"
	"testing"
)

// TestStructural: a schema of a CRD names no other one, and has neither defaults nor list types.
func TestStructural(t *testing.T) {
	var all map[string]map[string]any
	if err := json.Unmarshal([]byte(`{
		"Spec": {"type": "object", "required": ["port"], "x-kubernetes-list-type": "map", "properties": {
			"port": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}], "description": "the port"},
			"since": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
			"template": {"allOf": [{"$ref": "#/components/schemas/Template"}], "default": {}, "description": "of pods"},
			"list": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/Template"}], "default": {}}},
			"limits": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}}
		}},
		"Template": {"type": "object", "description": "a template", "properties": {"name": {"type": "string", "default": "", "enum": ["a"]}}}
	}`), &all); err != nil {
		t.Fatal(err)
	}
	got, err := structural(all, map[string]any{"$ref": "#/components/schemas/Spec"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"properties":{` +
		`"limits":{"additionalProperties":{"x-kubernetes-int-or-string":true},"type":"object"},` +
		`"list":{"items":{"description":"a template","properties":{"name":{"enum":["a"],"type":"string"}},"type":"object"},"type":"array"},` +
		`"port":{"description":"the port","x-kubernetes-int-or-string":true},` +
		`"since":{"format":"date-time","type":"string"},` +
		`"template":{"description":"of pods","properties":{"name":{"enum":["a"],"type":"string"}},"type":"object"}},` +
		`"required":["port"],"type":"object"}`
	if string(text) != want {
		t.Errorf("%s\nnot %s", text, want)
	}
	if _, err := structural(all, map[string]any{"$ref": "#/components/schemas/Other"}); err == nil {
		t.Error("an unknown schema is none")
	}
}
