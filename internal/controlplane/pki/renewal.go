package pki

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The names of the leaf certificates, kubeadm's where it has them.
const (
	ServingLeaf    = "apiserver"
	KubeletLeaf    = "apiserver-kubelet-client"
	FrontProxyLeaf = "front-proxy-client"
	KubeconfigLeaf = "kubeconfig"
)

// Leaves are the names of all leaf certificates.
var Leaves = []string{ServingLeaf, KubeletLeaf, FrontProxyLeaf, KubeconfigLeaf}

// Renewal selects certificates and keys to replace.
type Renewal struct {
	// Names are those of leaf certificates, and All selects each of them that is not in a file of the user's.
	Names []string `json:"names,omitempty"`
	All   bool     `json:"all,omitempty"`
	Rotation
}

// Rotates reports whether keys change.
func (r Renewal) Rotates() bool { return r.Rotation != Rotation{} }

// Check returns an error for unknown names, and for an empty Renewal.
func (r Renewal) Check() error {
	for _, name := range r.Names {
		if !slices.Contains(Leaves, name) {
			return fmt.Errorf("there is no certificate %q: want %s", name, strings.Join(Leaves, ", "))
		}
	}
	switch more := len(r.Names) > 0 || r.All || r.CA || r.TokenKey; {
	case !more && !r.Finish:
		return fmt.Errorf("want names of certificates (%s), --all, --ca, --service-account-key or --finish", strings.Join(Leaves, ", "))
	case more && r.Finish:
		return errors.New("--finish goes alone: it ends the rotation that an earlier call has begun")
	}
	return nil
}
