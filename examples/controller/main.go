// Command controller is a whole controller on one page, to copy: it gives every namespace
// labelled `greet=NAME` a ConfigMap with a greeting, and creates it again when it is
// deleted.
//
//	fairlead up &
//	KUBECONFIG=.fairlead/kubeconfig go run ./examples/controller &
//	kubectl label namespace default greet=world
//	kubectl get configmap greeting -o yaml
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"os/signal"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client/leader"
	"fairlead.dev/controller"
)

func newGreeter(config *rest.Config) (*controller.Manager, error) {
	m, err := controller.NewManager(config, "greeter", controller.ManagerOptions{
		Lease: leader.Candidate{Namespace: "default", Name: "greeter"}, // one of several replicas works
	})
	if err != nil {
		return nil, err
	}
	namespaces, maps := controller.ObjectsOf[*corev1.Namespace](m.Env), controller.ObjectsOf[*corev1.ConfigMap](m.Env)

	// Called with a namespace whenever its objects may have changed: compare, and create the
	// missing parts. After an error it is called again, later each time.
	greet := func(ctx context.Context, ns *corev1.Namespace) (controller.Result, error) {
		if ns.Labels["greet"] == "" || ns.DeletionTimestamp != nil {
			return controller.Result{}, nil
		}
		if _, ok := maps.Store().Get(ns.Name, "greeting"); ok {
			return controller.Result{}, nil
		}
		greeting := &corev1.ConfigMap{Data: map[string]string{"text": "hello " + ns.Labels["greet"]}}
		greeting.Name = "greeting"
		if _, err := maps.API.Namespace(ns.Name).Create(ctx, greeting); err != nil {
			return controller.Result{}, err
		}
		m.Recorder.Event(ns, corev1.EventTypeNormal, "Greeted", "Said hello to %s", ns.Labels["greet"])
		return controller.Result{}, nil
	}

	// The declaration: what is reconciled, and which events cause it. A ConfigMap's event is
	// one of its namespace.
	m.New("greeter", controller.ByObject(namespaces, greet), controller.Options{}).Watch(
		controller.For(namespaces),
		controller.Watches(maps, func(m *corev1.ConfigMap) []controller.Key { return []controller.Key{{Name: m.Namespace}} }),
	)
	return m, nil
}

func main() {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	m, err := newGreeter(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go func() { log.Fatal(http.ListenAndServe("localhost:8083", m.Handler())) }() // /healthz, /readyz, /metrics
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
