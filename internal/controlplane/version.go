package controlplane

import (
	goruntime "runtime"
	"runtime/debug"

	"fairlead.dev/internal/resource/gates"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/compatibility"
)

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

// NewEffectiveVersion returns the version of a server that emulates no other, for an API.
func NewEffectiveVersion() compatibility.MutableEffectiveVersion {
	return compatibility.NewEffectiveVersionFromString(KubernetesVersion, gates.Oldest, gates.Oldest)
}

// effectiveVersion returns the version of an API.
func effectiveVersion(api gates.API) compatibility.EffectiveVersion {
	if api.Version == nil {
		return NewEffectiveVersion()
	}
	return api.Version
}

// kubernetesVersion describes the version of an API, for /version.
func kubernetesVersion(api gates.API) version.Info {
	v := effectiveVersion(api)
	binary, emulated, least := v.BinaryVersion(), v.EmulationVersion(), v.MinCompatibilityVersion()
	return version.Info{
		Major: utilversion.Itoa(binary.Major()), Minor: utilversion.Itoa(binary.Minor()),
		EmulationMajor: utilversion.Itoa(emulated.Major()), EmulationMinor: utilversion.Itoa(emulated.Minor()),
		MinCompatibilityMajor: utilversion.Itoa(least.Major()), MinCompatibilityMinor: utilversion.Itoa(least.Minor()),
		GitVersion: KubernetesVersion, GoVersion: goruntime.Version(), Compiler: goruntime.Compiler, Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	}
}
