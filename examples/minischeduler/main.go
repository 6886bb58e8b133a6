// Command minischeduler is the textbook scheduler on Fairlead's client library: a queue of
// pods to place, a cache of pods and nodes that counts assumed pods, and the binding. It
// considers only CPU.
//
// It runs against any Kubernetes API server, beside the default scheduler:
//
//	fairlead up &
//	KUBECONFIG=.fairlead/kubeconfig go run ./examples/minischeduler &
//	kubectl run web --image=nginx --overrides='{"spec":{"schedulerName":"mini"}}'
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
)

func main() {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, c); err != nil {
		log.Fatal(err)
	}
}
