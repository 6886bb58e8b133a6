package server_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// A Kubernetes API over a store in memory, with an Authenticator and an Authorizer of the program's own. There are no
// controllers, no admission and no TLS; "fairlead up" and package testenv run a whole control plane.
func Example() {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	s, err := server.New(server.Config{
		Store: store,
		Authenticator: server.AuthenticatorFunc(func(r *http.Request) (*server.User, bool, error) {
			name, _, ok := r.BasicAuth()
			return &server.User{Name: name}, ok, nil
		}),
		Authorizer: server.AuthorizerFunc(func(_ context.Context, a server.Attributes) (server.Decision, string, error) {
			if a.User.Name == "ada" || a.Verb == "get" {
				return server.Allow, "", nil
			}
			return server.NoOpinion, "only ada may write", nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go s.Run(ctx)
	front := httptest.NewServer(s)
	defer front.Close()

	for _, user := range []string{"ada", "bob"} {
		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: front.URL, Username: user})
		n, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lab"}}, metav1.CreateOptions{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(n.Name, "created by", user)
	}
	// Output:
	// lab created by ada
	// namespaces is forbidden: User "bob" cannot create resource "namespaces" in API group "" at the cluster scope: only ada may write
}
