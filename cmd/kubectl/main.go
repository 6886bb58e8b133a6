// Command kubectl is upstream's kubectl, built from k8s.io/kubectl as a library, for
// machines without one. Verbs, flags, kubeconfig rules and plugins are unchanged.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// Exec and cloud authentication, as kubectl ships them.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

func main() {
	setVersion()
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
		os.Exit(1)
	}
}
