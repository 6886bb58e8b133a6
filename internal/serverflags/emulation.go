package serverflags

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/resource/gates"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// cborGate is the gate of CBOR, which is no part of the API's version.
const cborGate = "CBORServingAndStorage"

// emulation has the flags of the API that a server serves.
type emulation struct {
	Emulation
	forward, forwardTyped bool
}

// Emulation has the flags of the emulated version and its feature gates.
type Emulation struct {
	registry compatibility.ComponentGlobalsRegistry
	// can reports whether a gate can be switched from its default.
	can func(gate string) bool
}

// Register adds the flags; can reports whether a gate can be switched from its default.
func (e *Emulation) Register(set *pflag.FlagSet, can func(gate string) bool) {
	e.can = can
	e.registry = compatibility.NewComponentGlobalsRegistry()
	v := controlplane.NewEffectiveVersion()
	all, err := gates.New(v.EmulationVersion())
	utilruntime.Must(err)
	utilruntime.Must(e.registry.Register(compatibility.DefaultKubeComponent, v, all))
	e.registry.AddFlags(set)
	var switchable []string
	for _, name := range slices.Sorted(maps.Keys(all.GetAll())) {
		if can(string(name)) {
			switchable = append(switchable, string(name))
		}
	}
	set.Lookup("feature-gates").Usage = "feature gates of Kubernetes, as NAME=true or NAME=false, separated by commas; can be switched: " + strings.Join(switchable, ", ")
	set.Lookup("emulated-version").Usage = "version of Kubernetes to emulate, as MAJOR.MINOR, from " + gates.Oldest + " to " + gates.Newest + " (the default)"
	set.Lookup("min-compatibility-version").Usage = "version of the oldest component that works with the server, as MAJOR.MINOR (default the one before --emulated-version)"
}

func (e *emulation) register(set *pflag.FlagSet) {
	e.Register(set, gates.Switchable)
	set.BoolVar(&e.forward, "emulation-forward-compatible", false, "serve later versions of the beta APIs of the emulated version; no effect, since no beta version is served")
	set.BoolVar(&e.forwardTyped, "runtime-config-emulation-forward-compatible", false, "serve the APIs that --runtime-config enables by version although they came after the emulated version")
}

// api returns the API that the flags ask for.
func (e *emulation) api() (gates.API, error) {
	api, err := e.API()
	if err != nil {
		return api, err
	}
	if emulated := api.Version.EmulationVersion(); emulated.EqualTo(api.Version.BinaryVersion().WithPatch(0)) {
		const same = "cannot be set to true if the emulation version is the same as the binary version"
		switch {
		case e.forward:
			return api, errors.New("--emulation-forward-compatible " + same)
		case e.forwardTyped:
			return api, errors.New("--runtime-config-emulation-forward-compatible " + same)
		}
	}
	return api, nil
}

// lacks reports whether a gate that another one needs is off, without which the other one must be off too.
func lacks(all featuregate.FeatureGate, name featuregate.Feature) bool {
	return slices.ContainsFunc(all.Dependencies()[name], func(need featuregate.Feature) bool { return !all.Enabled(need) })
}

// API returns the version and the gates that the flags ask for. Its errors are kube-apiserver's, except for the gates that
// cannot be switched.
func (e *Emulation) API() (api gates.API, err error) {
	if err := e.registry.Set(); err != nil {
		return api, err
	}
	if errs := e.registry.Validate(); len(errs) > 0 {
		return api, utilerrors.NewAggregate(errs)
	}
	api.Version = e.registry.EffectiveVersionFor(compatibility.DefaultKubeComponent)
	api.Gates = e.registry.FeatureGateFor(compatibility.DefaultKubeComponent)
	all := api.Gates.DeepCopy().GetAll()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if on := api.Gates.Enabled(name); on != all[name].Default && !e.can(string(name)) && !lacks(api.Gates, name) {
			return api, fmt.Errorf("--feature-gates: %s=%t: Fairlead has this gate of Kubernetes %s at its default", name, on, api.Version.EmulationVersion())
		}
	}
	return api, nil
}
