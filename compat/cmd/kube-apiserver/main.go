// Command kube-apiserver is the original, built from k8s.io/kubernetes, to hold
// our clients and our server against.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
