package controller_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// A whole controller: it gives every namespace that asks for it a ConfigMap, and gives it
// again when somebody deletes it.
func Example() {
	cfg, err := clientcmd.BuildConfigFromFlags("", clientcmd.RecommendedHomeFile)
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{UserAgent: "greeter"})
	if err != nil {
		log.Fatal(err)
	}
	set := informer.NewSet(c)
	namespaces, maps := informer.In[*corev1.Namespace](set), informer.In[*corev1.ConfigMap](set)

	loop := controller.New("greeter", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		ns, ok := namespaces.Store().Get("", k.Name)
		if !ok || ns.Labels["greet"] == "" || ns.DeletionTimestamp != nil {
			return controller.Result{}, nil
		}
		if _, ok := maps.Store().Get(ns.Name, "greeting"); ok {
			return controller.Result{}, nil
		}
		greeting := &corev1.ConfigMap{Data: map[string]string{"text": "hello " + ns.Labels["greet"]}}
		greeting.Name = "greeting"
		_, err := client.For[*corev1.ConfigMap](c).Namespace(ns.Name).Create(ctx, greeting)
		return controller.Result{}, err // what fails comes back
	}, controller.Options{})
	controller.Watch(loop, namespaces, controller.Self)
	controller.Watch(loop, maps, func(m *corev1.ConfigMap) []controller.Key {
		return []controller.Key{{Name: m.Namespace}}
	})

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	set.Start(ctx)
	if err := loop.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
