// Package versionskew has Kubernetes' version skew policy for kubelets:
// https://kubernetes.io/releases/version-skew-policy/.
package versionskew

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// kubelet is how many minor versions a kubelet may be older than the API server.
const kubelet = 3

// CheckKubelet returns an error if the policy excludes a kubelet of a version from a server of another one, or if one of them
// is not a version, such as v1.37.2.
func CheckKubelet(of, server string) error {
	k, err := version.ParseGeneric(of)
	if err != nil {
		return fmt.Errorf("the version of the kubelet: %w", err)
	}
	s, err := version.ParseGeneric(server)
	if err != nil {
		return fmt.Errorf("the version of the server: %w", err)
	}
	switch {
	case k.Major() != s.Major() || k.Minor() > s.Minor():
		return fmt.Errorf("the kubelet's version %s is newer than the server's, %s: a kubelet may not be newer", of, server)
	case k.Minor()+kubelet < s.Minor():
		return fmt.Errorf("the kubelet's version %s is too old for the server's, %s: it may be %d minor versions older", of, server, kubelet)
	}
	return nil
}
