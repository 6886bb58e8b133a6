package openapi

import (
	"reflect"

	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// docOf is what is said of a type, under "", and of its fields: by the type
// itself, or by the definitions that come with apiextensions for its own types and
// the few of apimachinery that say nothing.
func (d *definitions) docOf(t reflect.Type) map[string]string {
	zero := reflect.New(t).Interface()
	if s, ok := zero.(swagger); ok {
		return s.SwaggerDoc()
	}
	if n, ok := zero.(modelName); ok {
		if d.told == nil {
			d.told = generatedWords()
		}
		return d.told[n.OpenAPIModelName()]
	}
	return nil
}

// generatedWords are the descriptions of apiextensions' definitions, which are
// made for this and dropped: megabytes in all, a few kilobytes of it words.
func generatedWords() map[string]map[string]string {
	words := map[string]map[string]string{}
	for name, def := range generated.GetOpenAPIDefinitions(func(string) (ref spec.Ref) { return ref }) {
		doc := map[string]string{"": def.Schema.Description}
		for property, s := range def.Schema.Properties {
			doc[property] = s.Description
		}
		words[name] = doc
	}
	return words
}
