package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// specs are kinds of Kubernetes whose spec the custom resources of the load definitions have, by the path of the OpenAPI v3 document
// that describes them. Two of ten contain the template of a pod, as many operators' resources do.
var specs = []struct{ path, name string }{
	{"/openapi/v3/apis/apps/v1", "io.k8s.api.apps.v1.DeploymentSpec"},
	{"/openapi/v3/api/v1", "io.k8s.api.core.v1.ServiceSpec"},
	{"/openapi/v3/apis/networking.k8s.io/v1", "io.k8s.api.networking.v1.IngressSpec"},
	{"/openapi/v3/apis/networking.k8s.io/v1", "io.k8s.api.networking.v1.NetworkPolicySpec"},
	{"/openapi/v3/apis/autoscaling/v2", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec"},
	{"/openapi/v3/apis/batch/v1", "io.k8s.api.batch.v1.CronJobSpec"},
	{"/openapi/v3/api/v1", "io.k8s.api.core.v1.PersistentVolumeClaimSpec"},
	{"/openapi/v3/apis/policy/v1", "io.k8s.api.policy.v1.PodDisruptionBudgetSpec"},
	{"/openapi/v3/api/v1", "io.k8s.api.core.v1.ResourceQuotaSpec"},
	{"/openapi/v3/apis/flowcontrol.apiserver.k8s.io/v1", "io.k8s.api.flowcontrol.v1.FlowSchemaSpec"},
}

// definitionsPerGroup is how many CRDs share an API group.
const definitionsPerGroup = 5

func definitionGroup(i int) string {
	return fmt.Sprintf("g%d.bench.fairlead.dev", i/definitionsPerGroup)
}

// definition returns the i-th CRD as JSON; its custom resources have the spec.
func definition(i int, spec map[string]any) ([]byte, error) {
	kind := fmt.Sprintf("Kind%d", i)
	plural := strings.ToLower(kind) + "s"
	return json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + definitionGroup(i)},
		"spec": map[string]any{
			"group": definitionGroup(i), "scope": "Namespaced",
			"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
					"spec":   spec,
					"status": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
				}}},
			}},
		},
	})
}

// opaque are the types of Kubernetes that a structural schema describes in another way.
var opaque = map[string]map[string]any{
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": true},
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   {"x-kubernetes-int-or-string": true},
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       {"type": "string", "format": "date-time"},
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
}

// structural returns a schema of an OpenAPI v3 document as CRDs have it: with the contents of the schemas that it names, and without
// defaults and x-kubernetes-* members. all are the document's schemas.
func structural(all map[string]map[string]any, s map[string]any) (map[string]any, error) {
	described, _ := s["description"].(string)
	for {
		ref, _ := s["$ref"].(string)
		if of, ok := s["allOf"].([]any); ok && len(of) == 1 {
			ref, _ = of[0].(map[string]any)["$ref"].(string)
		}
		if ref == "" {
			break
		}
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		if o := opaque[name]; o != nil {
			return withDescription(maps.Clone(o), described), nil
		}
		if s = all[name]; s == nil {
			return nil, fmt.Errorf("the document has no schema %s", name)
		}
	}
	out := map[string]any{}
	for _, key := range []string{"type", "format", "description", "required", "enum"} {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := s[key].(map[string]any); ok {
			x, err := structural(all, inner)
			if err != nil {
				return nil, err
			}
			out[key] = x
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		full := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			x, err := structural(all, properties[name].(map[string]any))
			if err != nil {
				return nil, err
			}
			full[name] = x
		}
		out["properties"] = full
	}
	return withDescription(out, described), nil
}

// withDescription sets the description that a schema has where it is used.
func withDescription(s map[string]any, text string) map[string]any {
	if text != "" {
		s["description"] = text
	}
	return s
}
