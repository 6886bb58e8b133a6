package controlplane

import "runtime/debug"

// KubernetesVersion is the version of Kubernetes whose API is served: that of the
// k8s.io modules in go.mod.
const KubernetesVersion = "v1.37.2"

// Version is this program's own version: that of its module when it was installed
// by `go install`, else "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
