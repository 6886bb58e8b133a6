package informer_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
	"fairlead.dev/informer"
)

// The pods of a node, from a local copy of all pods.
func Example() {
	config, err := clientcmd.BuildConfigFromFlags("", ".fairlead/kubeconfig")
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	pods := informer.New(client.For[*corev1.Pod](c), informer.Options[*corev1.Pod]{})
	pods.Index("node", func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	go pods.Run(ctx)
	<-pods.Synced()
	for _, p := range pods.Store().ByIndex("node", "node-1") {
		fmt.Println(p.Namespace, p.Name)
	}
}
