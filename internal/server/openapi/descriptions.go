package openapi

import (
	"reflect"

	extensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	registration "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// docOf returns the descriptions of a type, under "", and of its fields. They come from the type itself, or from
// the definitions in apiextensions and kube-aggregator for their own types and for the few types of apimachinery
// without a SwaggerDoc.
func (d *definitions) docOf(t reflect.Type) map[string]string {
	zero := reflect.New(t).Interface()
	if s, ok := zero.(swagger); ok {
		return s.SwaggerDoc()
	}
	if n, ok := zero.(modelName); ok {
		if d.docs == nil {
			d.docs = generatedDocs()
		}
		return d.docs[n.OpenAPIModelName()]
	}
	return nil
}

// generatedDocs returns the descriptions in those definitions. The definitions take megabytes and are dropped; the
// descriptions take a few kilobytes.
func generatedDocs() map[string]map[string]string {
	words := map[string]map[string]string{}
	for _, generated := range []common.GetOpenAPIDefinitions{extensions.GetOpenAPIDefinitions, registration.GetOpenAPIDefinitions} {
		for name, def := range generated(func(string) (ref spec.Ref) { return ref }) {
			doc := map[string]string{"": def.Schema.Description}
			for property, s := range def.Schema.Properties {
				doc[property] = s.Description
			}
			words[name] = doc
		}
	}
	return words
}
