package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// hereKubeconfig is the file that `fairlead up` writes when it runs in this directory.
var hereKubeconfig = filepath.Join(".fairlead", "kubeconfig")

var errNoKubeconfig = errors.New("no kubeconfig found: start a server here with `fairlead up`, or name one with --kubeconfig or KUBECONFIG")

// registerKubeconfig adds the flag of commands that work against any API server.
func registerKubeconfig(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "kubeconfig", "", "kubeconfig of the API server (default: the one that kubectl would use, else the pod's own cluster, else "+hereKubeconfig+")")
}

// kubeconfigLoader returns the configuration at path. If path is "", it looks where kubectl
// does, and falls back to the file of a server that runs in this directory.
func kubeconfigLoader(path string) (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	if path != "" {
		return loader, nil
	}
	if _, err := loader.ClientConfig(); !clientcmd.IsEmptyConfig(err) {
		return loader, nil
	}
	if list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); list != "" {
		return nil, fmt.Errorf("KUBECONFIG=%s: no such file, or no cluster in it", list)
	}
	if _, err := os.Stat(hereKubeconfig); err != nil {
		return nil, errNoKubeconfig
	}
	rules.ExplicitPath = hereKubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil), nil
}

// loadConfig returns the configuration of a client, and the namespace of its context.
func loadConfig(path string) (config *rest.Config, namespace string, err error) {
	loader, err := kubeconfigLoader(path)
	if err != nil {
		return nil, "", err
	}
	if config, err = loader.ClientConfig(); err == nil {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	return config, namespace, nil
}
