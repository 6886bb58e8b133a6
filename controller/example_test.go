package controller_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/exampletest"
	"fairlead.dev/testenv"
)

// A controller that gives each namespace with the label greet a ConfigMap.
func Example() {
	t, end := exampletest.New()
	defer end()
	config := testenv.New(t, testenv.Options{NoNodes: true}).Config() // or that of any cluster

	m, err := controller.NewManager(config, "greeter", controller.ManagerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	namespaces, maps := controller.ObjectsOf[*corev1.Namespace](m.Env), controller.ObjectsOf[*corev1.ConfigMap](m.Env)
	greet := func(ctx context.Context, ns *corev1.Namespace) (controller.Result, error) {
		if _, exists := maps.Store().Get(ns.Name, "greeting"); exists || ns.Labels["greet"] == "" {
			return controller.Result{}, nil
		}
		_, err := maps.API.Namespace(ns.Name).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "greeting"}, Data: map[string]string{"text": "hello " + ns.Labels["greet"]}})
		return controller.Result{}, err
	}
	namespaceOf := func(m *corev1.ConfigMap) []controller.Key { return []controller.Key{{Name: m.Namespace}} }
	m.New("greeter", controller.ByObject(namespaces, greet), controller.Options{}).Watch(
		controller.For(namespaces),
		controller.Watches(maps, namespaceOf).On(controller.Deleted), // a deleted greeting is created again
	)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()

	greetings, err := maps.API.Namespace("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=greeting"})
	if err != nil {
		log.Fatal(err)
	}
	defer greetings.Stop()
	label := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"greet": "world"}}})
	if _, err := namespaces.API.Patch(ctx, "default", label); err != nil {
		log.Fatal(err)
	}
	event, err := greetings.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(event.Type, event.Object.Data["text"])
	stop()
	fmt.Println(<-ended)
	// Output:
	// ADDED hello world
	// <nil>
}
