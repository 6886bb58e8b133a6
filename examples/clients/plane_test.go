package clients

import (
	"context"
	"log"
	"os"

	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
)

// plane is a control plane for one example. In a test, testenv.New does this; a program
// of your own reads a kubeconfig.
func plane() (config *rest.Config, c *client.Client, stop func()) {
	dir, err := os.MkdirTemp("", "fairlead-example-")
	must(err)
	cp, err := controlplane.Start(context.Background(), controlplane.Options{
		DataDir: dir, InMemory: true, Listen: "127.0.0.1:0", Controllers: []string{"*"}, Scheduler: true, Nodes: 2,
	})
	must(err)
	c, err = client.New(cp.Config(), client.Options{})
	must(err)
	return cp.Config(), c, func() {
		must(cp.Stop())
		must(os.RemoveAll(dir))
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
