// Command push copies an OCI image layout, with all its platforms, to a registry.
//
//	push -image=dist/image -to=HOST/OWNER/fairlead:v0.1.0
//
// $REGISTRY_USER and $REGISTRY_PASSWORD are the credentials; without a user the registry is asked anonymously.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	image := flag.String("image", "dist/image", "folder of the image layout")
	to := flag.String("to", "", "reference of the image in the registry")
	flag.Parse()
	if flag.NArg() > 0 || *to == "" {
		fmt.Fprintln(os.Stderr, "push: want -to and no arguments")
		os.Exit(2)
	}
	if err := push(*image, *to); err != nil {
		fmt.Fprintln(os.Stderr, "push:", err)
		os.Exit(1)
	}
}

func push(image, to string) error {
	ref, err := name.NewTag(to, name.StrictValidation)
	if err != nil {
		return err
	}
	index, err := layout.ImageIndexFromPath(image)
	if err != nil {
		return err
	}
	auth := authn.Anonymous
	if user := os.Getenv("REGISTRY_USER"); user != "" {
		auth = &authn.Basic{Username: user, Password: os.Getenv("REGISTRY_PASSWORD")}
	}
	return remote.WriteIndex(ref, index, remote.WithAuth(auth))
}
