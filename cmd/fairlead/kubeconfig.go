package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/internal/instance"
)

// hereKubeconfig is the file that `fairlead up` writes when it runs in this directory.
var hereKubeconfig = filepath.Join(defaultDataDir, "kubeconfig")

var errNoKubeconfig = errors.New("no kubeconfig found: start a server here with `fairlead up`, or point KUBECONFIG or --kubeconfig at one")

// target selects the server of a command that works against any API server.
type target struct{ kubeconfig, name string }

// register adds the flags. flags are the command's own or its persistent ones.
func (t *target) register(cmd *cobra.Command, flags *pflag.FlagSet) {
	t.registerKubeconfig(flags)
	registerName(cmd, flags, &t.name, "name of the server, as of fairlead up --name")
}

// targetOf returns the target of a command that is completed.
func targetOf(cmd *cobra.Command) *target {
	t := &target{}
	t.kubeconfig, _ = cmd.Flags().GetString("kubeconfig")
	if cmd.HasParent() && cmd.Parent().Name() != "fault" { // whose names are those of objects
		t.name, _ = cmd.Flags().GetString("name")
	}
	return t
}

func (t *target) registerKubeconfig(flags *pflag.FlagSet) {
	flags.StringVar(&t.kubeconfig, "kubeconfig", "", "kubeconfig of the server (default KUBECONFIG, else that of FAIRLEAD_NAME, else "+hereKubeconfig+", else ~/.kube/config, else the pod's own cluster)")
}

// load returns the configuration of a client, and the namespace of its context.
func (t *target) load() (config *rest.Config, namespace string, err error) {
	path, err := t.path()
	if err != nil {
		return nil, "", err
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	if config, err = loader.ClientConfig(); err == nil {
		namespace, _, err = loader.Namespace()
	}
	list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	switch {
	case err == nil:
		return config, namespace, nil
	case path != "" || !clientcmd.IsEmptyConfig(err):
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	case list != "":
		return nil, "", fmt.Errorf("KUBECONFIG=%s: no such file, or no cluster in it", list)
	}
	return nil, "", errNoKubeconfig
}

// path returns the path of the kubeconfig, "" for the one that kubectl would use.
func (t *target) path() (string, error) {
	fromEnvironment := os.Getenv(nameVariable)
	switch {
	case t.kubeconfig != "" && t.name != "":
		return "", usageError{errors.New("--kubeconfig and --name exclude each other")}
	case t.kubeconfig != "":
		return t.kubeconfig, nil
	case t.name != "":
		return kubeconfigOf(t.name)
	case os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return "", nil
	case fromEnvironment != "":
		return kubeconfigOf(fromEnvironment)
	}
	if _, err := os.Stat(hereKubeconfig); err == nil {
		return hereKubeconfig, nil
	}
	return "", nil
}

// kubeconfigOf returns the path of the kubeconfig of a running instance.
func kubeconfigOf(name string) (string, error) {
	in, err := namedInstance(name)
	if err != nil {
		return "", err
	}
	if _, err := in.Connect(); errors.Is(err, instance.ErrStopped) {
		if !in.Exists() {
			return "", errNoInstance(in)
		}
		return "", fmt.Errorf("%w: start it with `fairlead up%s`", err, upFlags(in))
	}
	record, err := in.Record()
	if err == nil && record.Kubeconfig == "" {
		err = fmt.Errorf("%s is starting: try again", in)
	}
	return record.Kubeconfig, err
}
