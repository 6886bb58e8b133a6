package controller_test

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// A whole operator: it gives every namespace that asks for it a ConfigMap, and gives it
// again when somebody deletes it. One of its replicas works at a time; each serves health
// and metrics.
func Example() {
	cfg, err := clientcmd.BuildConfigFromFlags("", clientcmd.RecommendedHomeFile)
	if err != nil {
		log.Fatal(err)
	}
	m, err := controller.NewManager(cfg, "greeter", controller.ManagerOptions{
		Lease: leader.Candidate{Namespace: "default", Name: "greeter"},
	})
	if err != nil {
		log.Fatal(err)
	}
	namespaces, maps := informer.In[*corev1.Namespace](m.Informers), informer.In[*corev1.ConfigMap](m.Informers)

	greeter := m.New("greeter", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		ns, ok := namespaces.Store().Get("", k.Name)
		if !ok || ns.Labels["greet"] == "" || ns.DeletionTimestamp != nil {
			return controller.Result{}, nil
		}
		if _, ok := maps.Store().Get(ns.Name, "greeting"); ok {
			return controller.Result{}, nil
		}
		greeting := &corev1.ConfigMap{Data: map[string]string{"text": "hello " + ns.Labels["greet"]}}
		greeting.Name = "greeting"
		if _, err := client.For[*corev1.ConfigMap](m.Client).Namespace(ns.Name).Create(ctx, greeting); err != nil {
			return controller.Result{}, err // what fails comes back, later each time
		}
		m.Recorder.Event(ns, corev1.EventTypeNormal, "Greeted", "Said hello to %s", ns.Labels["greet"])
		return controller.Result{}, nil
	}, controller.Options{})
	controller.Watch(greeter, namespaces, controller.Self)
	controller.Watch(greeter, maps, func(m *corev1.ConfigMap) []controller.Key {
		return []controller.Key{{Name: m.Namespace}}
	})

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go http.ListenAndServe(":8080", m.Handler())
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
