// Command kubectl is upstream's kubectl, built from k8s.io/kubectl as a library,
// for machines that have none. It adds nothing: same verbs, flags, kubeconfig
// rules and plugins.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// Exec and cloud authentication, as kubectl ships them.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// kubernetesVersion is the version of the k8s.io/kubectl module in go.mod, which
// upstream's release builds would set with linker flags.
const kubernetesVersion = "v1.37.2"

func main() {
	// It only fails for a version that does not parse, which is ours to notice
	// while building, not a user's.
	if err := version.SetDynamicVersion(kubernetesVersion); err != nil {
		panic(err)
	}
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
		os.Exit(1)
	}
}
