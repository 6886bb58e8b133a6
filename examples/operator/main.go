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
	"net/http"
	"os"
	"os/signal"

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
	m, err := newMirror(config)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.ListenAndServe("localhost:8081", m.Handler())) }() // /healthz, /readyz, /metrics
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
