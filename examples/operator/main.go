// Command operator is a whole operator on Fairlead's client library. Its kind Mirror asks for a Secret with the data of
// a ConfigMap, which is kept equal to it and goes with the Mirror. A defaulting webhook names the Secret, and a
// validating webhook keeps its name.
//
// It runs against any Kubernetes API server:
//
//	fairlead up &
//	export KUBECONFIG=.fairlead/kubeconfig
//	kubectl create -f examples/operator/config/crd.yaml
//	go run ./examples/operator
//
// With -cert-dir, a directory with tls.crt and tls.key, it serves its webhooks at port 9443.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	certDir := flag.String("cert-dir", "", "directory with the webhooks' tls.crt and tls.key (default no webhooks)")
	flag.Parse()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	m, err := newOperator(config)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.ListenAndServe("localhost:8081", m.Handler())) }() // /healthz, /readyz, /metrics
	if *certDir != "" {
		go func() {
			log.Fatal(http.ListenAndServeTLS(":9443", filepath.Join(*certDir, "tls.crt"), filepath.Join(*certDir, "tls.key"), webhooks()))
		}()
	}
	if err := m.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
