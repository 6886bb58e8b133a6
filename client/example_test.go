package client_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/client"
)

// Reading and changing objects by their Go type, on the server that kubectl would use.
func Example() {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	pods := client.For[*corev1.Pod](c).Namespace("default")

	for page, err := range pods.Pages(ctx, metav1.ListOptions{LabelSelector: "app=web"}) {
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range page.Items {
			fmt.Println(p.Name, p.Status.Phase)
		}
	}

	// A change that is retried if another writer changed the object meanwhile.
	err = client.RetryOnConflict(ctx, func() error {
		p, err := pods.Get(ctx, "web")
		if err != nil {
			return err
		}
		p.Labels["seen"] = "yes"
		_, err = pods.Update(ctx, p)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}
