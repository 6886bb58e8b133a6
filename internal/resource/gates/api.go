package gates

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"fairlead.dev/internal/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
)

// Newest and Oldest are the versions of Kubernetes whose API can be served.
const (
	Newest = "1.37"
	Oldest = "1.33"
)

// An API is the API of a version of Kubernetes. The zero value is that of the newest version, with the defaults of its
// gates. It is immutable.
type API struct {
	// Version is the version of the server, and the one that it emulates; nil is the newest.
	Version compatibility.EffectiveVersion
	// Gates are the feature gates, as New makes them; nil is their defaults in the newest version.
	Gates featuregate.FeatureGate
	// Later are versions of groups that are served although they came after the emulated version.
	Later []schema.GroupVersion
	// Asked are the resources that are served although their version is not served by default.
	Asked []schema.GroupVersionResource
}

// Enabled reports whether a feature gate is on.
func (a API) Enabled(gate string) bool {
	if a.Gates == nil {
		return newest()[gate]
	}
	return a.Gates.Enabled(featuregate.Feature(gate))
}

// newest has the defaults of the gates in the newest version.
var newest = sync.OnceValue(func() map[string]bool {
	on := map[string]bool{}
	for line := range strings.Lines(gatesText) {
		for i, word := range strings.Fields(line) {
			if i == 0 || strings.HasPrefix(word, "needs=") || strings.Contains(word, ":min=") {
				continue
			}
			name, _, _ := strings.Cut(line, " ")
			on[name] = strings.Contains(word, ":on:")
		}
	}
	return on
})

// Has reports whether the API has a version of a kind; obj is one of its objects.
func (a API) Has(gv schema.GroupVersion, obj runtime.Object) bool {
	if lived, ok := obj.(interface{ APILifecycleRemoved() (major, minor int) }); ok && a.reached(lived.APILifecycleRemoved()) {
		return false
	}
	lived, ok := obj.(interface{ APILifecycleIntroduced() (major, minor int) })
	return !ok || slices.Contains(a.Later, gv) || a.reached(lived.APILifecycleIntroduced())
}

// reached reports whether the API's version is that one, or a later one.
func (a API) reached(major, minor int) bool {
	at := version.MustParse(Newest)
	if a.Version != nil {
		at = a.Version.EmulationVersion()
	}
	return at.AtLeast(version.MajorMinor(uint(major), uint(minor)))
}

// serves reports whether a version of a resource is served.
func (a API) serves(r *resource.Resource, v resource.Version) bool {
	gate, gated := gatedKinds[r.GroupResource()]
	return (!v.OnRequest || slices.Contains(a.Asked, r.GVR(v.Name))) && a.Has(r.GVR(v.Name).GroupVersion(), v.New()) &&
		(!gated || a.Enabled(gate))
}

// Apply returns the rows of the kinds that the API has, with the rules of its gates. It changes the rows.
func (a API) Apply(rows []*resource.Resource) (served []*resource.Resource) {
	c := ofNewest()
	if a.Gates != nil {
		c = newCompiler(a.Enabled)
	}
	for _, r := range rows {
		r.Restrict(func(v resource.Version) bool { return a.serves(r, v) })
		if len(r.Versions) == 0 || r.Version(r.StorageVersion) == nil && !r.SharesStorage && !r.Virtual {
			continue
		}
		for i := range r.Versions {
			if v := &r.Versions[i]; v.OnRequest {
				v.Warning = a.deprecation(r.GVK(v.Name), v.New())
			}
		}
		served = append(served, r)
		obj, err := resource.Scheme().New(r.Hub())
		if err != nil {
			panic(err) // a stored kind is not registered
		}
		if whole := c.of(reflect.TypeOf(obj).Elem()); whole != nil {
			r.Strategy.Drop = dropper{whole, whole}.drop
			if status := whole.status(); status != nil && r.Plural != "nodes" { // kubelets may report anything
				r.Strategy.DropStatus = dropper{status, whole}.drop
			}
		}
		for _, rule := range rules {
			if (rule.of.Empty() || rule.of == r.GroupResource()) && !a.Enabled(rule.gate) {
				rule.apply(r)
			}
		}
	}
	return served
}
