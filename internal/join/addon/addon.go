// Package addon has the manifests of programs that a cluster of real nodes needs in pods: CoreDNS, and kube-proxy if no
// other program of the nodes is one. Their pods avoid simulated nodes.
package addon

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/manifest"
	"fairlead.dev/internal/join"
)

var (
	//go:embed coredns.yaml
	coredns string
	//go:embed kube-proxy.yaml
	proxy string
)

// Addon is a program that runs in pods.
type Addon struct {
	Name, Short string
	template    string
	// calls reports whether the program is told the URL of the API server.
	calls bool
	// image returns the default image for a version of Kubernetes.
	image func(version string) string
}

// All are the add-ons, sorted by name.
var All = []Addon{
	{"coredns", "DNS of Services and pods", coredns, false, func(string) string { return "registry.k8s.io/coredns/coredns:v1.14.6" }},
	{"kube-proxy", "the way to Services, on each node that has no kube-proxy of its own", proxy, true, func(v string) string { return "registry.k8s.io/kube-proxy:" + v }},
}

// Find returns the add-on of a name.
func Find(name string) (Addon, error) {
	var names []string
	for _, a := range All {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Addon{}, fmt.Errorf("there is no add-on %q; all are: %s", name, strings.Join(names, ", "))
}

// Options adapt an add-on to a cluster.
type Options struct {
	// Image replaces the default image.
	Image string
	// Replicas is the number of CoreDNS's pods.
	Replicas int
	// Server is the URL of the API server for nodes; "" is that of join.ClusterOf.
	Server string
}

// Objects returns the objects of the add-on for the cluster of a client and its kubeconfig.
func (a Addon) Objects(ctx context.Context, c *client.Client, config *rest.Config, o Options) ([]*manifest.Object, error) {
	facts, err := join.FactsOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.calls {
		cluster, err := join.ClusterOf(ctx, c, config, o.Server)
		if err != nil {
			return nil, err
		}
		o.Server = cluster.Server
	}
	if o.Image == "" {
		o.Image = a.image(facts.Version)
	}
	return manifest.Render(a.template, struct {
		join.Facts
		Options
		Group string
	}{facts, o, join.Group})
}
