package openapi

import (
	"reflect"

	extensions "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	registration "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// docOf is what is said of a type, under "", and of its fields: by the type
// itself, or by the definitions that come with apiextensions and with kube-aggregator
// for their own types and the few of apimachinery that say nothing.
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

// generatedWords are the descriptions of those definitions, which are made for this
// and dropped: megabytes in all, a few kilobytes of it words.
func generatedWords() map[string]map[string]string {
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
