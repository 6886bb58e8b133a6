// Command operator is a whole operator on Fairlead's client library: for every
// ConfigMap labelled `mirror=secret` it keeps a Secret of the same name with the
// same data, owned by the ConfigMap, so that the Secret goes when its owner does.
//
// It runs against any Kubernetes API server:
//
//	fairlead up &
//	KUBECONFIG=.fairlead/kubeconfig go run ./examples/operator
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, config); err != nil {
		log.Fatal(err)
	}
}

// run runs the operator until ctx ends.
func run(ctx context.Context, config *rest.Config) error {
	m, err := newMirror(config)
	if err != nil {
		return err
	}
	return m.run(ctx)
}
