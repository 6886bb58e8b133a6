package main

import (
	"runtime/debug"
	"strings"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

// Upstream's release builds set these variables with the linker's -X flag. They are not
// exported, so they are set by their link names here: a kubectl that `go install` or `go build`
// made then knows its version as well.
var (
	//go:linkname baseVersion k8s.io/component-base/version.gitVersion
	baseVersion string
	//go:linkname baseMajor k8s.io/component-base/version.gitMajor
	baseMajor string
	//go:linkname baseMinor k8s.io/component-base/version.gitMinor
	baseMinor string
	// clientVersion is the version in the User-Agent header.
	//go:linkname clientVersion k8s.io/client-go/pkg/version.gitVersion
	clientVersion string
)

// setVersion takes kubectl's version from the module that this program was built with:
// k8s.io/kubectl v0.37.2 is kubectl v1.37.2.
func setVersion() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, m := range info.Deps {
		release, found := strings.CutPrefix(m.Version, "v0.")
		if m.Path != "k8s.io/kubectl" || !found {
			continue
		}
		baseVersion, clientVersion = "v1."+release, "v1."+release
		baseMajor = "1"
		baseMinor, _, _ = strings.Cut(release, ".")
		_ = version.SetDynamicVersion(baseVersion) // refuses only another version than gitVersion
	}
}
