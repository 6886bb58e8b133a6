// Command servicelookup is the classic exercise in watching: it finds for every Pod the
// Services that reach it. It watches Pods and EndpointSlices, writes the result into a
// custom resource, PodServices, and answers requests over HTTP:
//
//	fairlead up &
//	export KUBECONFIG=.fairlead/kubeconfig
//	kubectl apply -f examples/servicelookup/crd.yaml
//	go run ./examples/servicelookup &
//	kubectl get podservices -w
//	curl localhost:8082/pods/default/web-1
package main

import (
	"context"
	"encoding/json"
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
	l, err := newLookup(config)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.ListenAndServe("localhost:8082", l.handler())) }()
	if err := l.manager.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// handler answers GET /pods/{namespace}/{name} with the names of the Services that reach
// the Pod. It looks into the informer's copy only: an answer asks no server.
func (l *lookup) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pods/{namespace}/{name}", func(w http.ResponseWriter, r *http.Request) {
		known, ok := l.results.Store().Get(r.PathValue("namespace"), r.PathValue("name"))
		if !ok {
			http.Error(w, "no service reaches a pod of that name", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(known.Spec.Services)
	})
	mux.Handle("/", l.manager.Handler()) // /healthz, /readyz, /metrics
	return mux
}
