package clients

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
)

// Any resource without its Go type, whole or only its metadata.
func Example_dynamic() {
	_, c, stop := plane()
	defer stop()
	ctx := context.Background()
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

	_, err := client.Dynamic(c, maps, true).Namespace("default").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "settings", "labels": map[string]any{"app": "web"}},
		"data":     map[string]any{"color": "blue"},
	}})
	must(err)

	list, err := client.Dynamic(c, maps, true).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	must(err)
	for _, m := range list.Items {
		color, _, _ := unstructured.NestedString(m.Object, "data", "color")
		fmt.Println(m.GetNamespace(), m.GetName(), color)
	}

	meta, err := client.Metadata(c, maps, true).Namespace("default").Get(ctx, "settings")
	must(err)
	fmt.Println(meta.Labels)
	// Output:
	// default settings blue
	// map[app:web]
}
