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
)

// cborGate is the gate of CBOR, which is no part of the API's version.
const cborGate = "CBORServingAndStorage"

// emulation has the flags of the emulated version and its feature gates.
type emulation struct {
	registry              compatibility.ComponentGlobalsRegistry
	forward, forwardTyped bool
}

func (e *emulation) register(set *pflag.FlagSet) {
	e.registry = compatibility.NewComponentGlobalsRegistry()
	v := controlplane.NewEffectiveVersion()
	all, err := gates.New(v.EmulationVersion())
	utilruntime.Must(err)
	utilruntime.Must(e.registry.Register(compatibility.DefaultKubeComponent, v, all))
	e.registry.AddFlags(set)
	var switchable []string
	for _, name := range slices.Sorted(maps.Keys(all.GetAll())) {
		if gates.Switchable(string(name)) {
			switchable = append(switchable, string(name))
		}
	}
	set.Lookup("feature-gates").Usage = "feature gates of Kubernetes, as NAME=true or NAME=false, separated by commas; can be switched: " + strings.Join(switchable, ", ")
	set.Lookup("emulated-version").Usage = "version of the Kubernetes API to serve, as MAJOR.MINOR, from " + gates.Oldest + " to " + gates.Newest + " (the default)"
	set.Lookup("min-compatibility-version").Usage = "version of the oldest component that works with the server, as MAJOR.MINOR (default the one before --emulated-version)"
	set.BoolVar(&e.forward, "emulation-forward-compatible", false, "serve later versions of the beta APIs of the emulated version; no effect, since no beta version is served")
	set.BoolVar(&e.forwardTyped, "runtime-config-emulation-forward-compatible", false, "serve the APIs that --runtime-config enables by version although they came after the emulated version")
}

// api returns the API that the flags ask for. Its errors are kube-apiserver's, except for the gates that this server
// does not have.
func (e *emulation) api() (api gates.API, err error) {
	if err := e.registry.Set(); err != nil {
		return api, err
	}
	if errs := e.registry.Validate(); len(errs) > 0 {
		return api, utilerrors.NewAggregate(errs)
	}
	api.Version = e.registry.EffectiveVersionFor(compatibility.DefaultKubeComponent)
	api.Gates = e.registry.FeatureGateFor(compatibility.DefaultKubeComponent)
	if emulated := api.Version.EmulationVersion(); emulated.EqualTo(api.Version.BinaryVersion().WithPatch(0)) {
		const same = "cannot be set to true if the emulation version is the same as the binary version"
		switch {
		case e.forward:
			return api, errors.New("--emulation-forward-compatible " + same)
		case e.forwardTyped:
			return api, errors.New("--runtime-config-emulation-forward-compatible " + same)
		}
	}
	all := api.Gates.DeepCopy().GetAll()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if on := api.Gates.Enabled(name); on != all[name].Default && !gates.Switchable(string(name)) {
			return api, fmt.Errorf("--feature-gates: %s=%t: Fairlead serves Kubernetes %s with this gate at its default", name, on, api.Version.EmulationVersion())
		}
	}
	return api, nil
}
