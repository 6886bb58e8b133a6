package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

func newKubeconfig() *cobra.Command {
	var t target
	var server string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the kubeconfig of a server, with its certificates in it",
		Example: `  # For another machine, which reaches the server by this name
  fairlead kubeconfig --server=https://api.example.com:6443 > kubeconfig

  # From a pod that runs Fairlead
  kubectl exec fairlead-0 -- /fairlead kubeconfig --kubeconfig=/data/kubeconfig --server=https://127.0.0.1:6443`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if server != "" {
				if u, err := url.Parse(server); err != nil || u.Scheme != "https" || u.Host == "" {
					return usageError{fmt.Errorf("--server=%s: want a URL such as https://api.example.com:6443", server)}
				}
			}
			text, err := t.print(server)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	t.register(cmd, cmd.Flags())
	cmd.Flags().StringVar(&server, "server", "", "URL of the server in the kubeconfig (default the one that the server wrote)")
	return cmd
}

// print returns the current context of the kubeconfig, without paths of files, and with the URL of the server unless it is "".
func (t *target) print(server string) ([]byte, error) {
	path, err := t.path()
	if err != nil {
		return nil, err
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	if err := api.MinifyConfig(config); err != nil {
		if config.CurrentContext == "" {
			err = errNoKubeconfig
		}
		return nil, err
	}
	if err := api.FlattenConfig(config); err != nil {
		return nil, err
	}
	for _, cluster := range config.Clusters {
		if cluster == nil {
			return nil, errors.New("the current context has no cluster")
		}
		if server != "" {
			cluster.Server = server
		}
	}
	return clientcmd.Write(*config)
}
