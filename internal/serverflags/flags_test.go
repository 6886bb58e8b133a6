package serverflags

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/internal/resource/gates"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestDisabledAPIs(t *testing.T) {
	for _, c := range []struct {
		config map[string]string
		has    []string
		want   string
	}{
		{config: nil},
		{config: map[string]string{"policy/v1": "false"}, has: []string{"policy/v1"}},
		{config: map[string]string{"api/all": "true", "batch/v1": "true"}},
		{config: map[string]string{"api/beta": "false"}}, // no beta version is served
		{config: map[string]string{"resource.k8s.io/v1beta1": "true", "resource.k8s.io/v1beta2": "false"}},
		{config: map[string]string{"v1": "false"}, want: "v1 cannot be disabled"},
		{config: map[string]string{"batch/v7": "true"}, want: "Fairlead does not serve batch/v7"},
		{config: map[string]string{"batch/v7": "false"}},
		{config: map[string]string{"batch/v1": "maybe"}, want: "invalid value of batch/v1=maybe"},
		{config: map[string]string{"a/b/c": "true"}, want: `"a/b/c" is not a group and version`},
	} {
		disabled, err := disabledAPIs(c.config, gates.API{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.config, err, c.want)
			continue
		}
		if len(c.has) == 0 && len(disabled) > 0 {
			t.Errorf("%v disables %v", c.config, disabled)
		}
		contains := func(name string) bool {
			return slices.ContainsFunc(disabled, func(gv schema.GroupVersion) bool { return gv.String() == name })
		}
		for _, name := range c.has {
			if !contains(name) {
				t.Errorf("%v does not disable %s", c.config, name)
			}
		}
	}
}

// TestAskedAPIs enables versions that are not served by default.
func TestAskedAPIs(t *testing.T) {
	for _, c := range []struct {
		config    map[string]string
		has, lack []string // the resources with these ends, as group/version/resource
		err       string
	}{
		{lack: []string{"s"}},
		{config: map[string]string{"resource.k8s.io/v1beta2": ""}, has: []string{"v1beta2/resourceclaims", "v1beta2/devicetaintrules"}, lack: []string{"v1beta1/resourceclaims"}},
		{config: map[string]string{"resource.k8s.io/v1beta2": "true", "resource.k8s.io/v1beta2/deviceclasses": "false"},
			has: []string{"v1beta2/resourceclaims"}, lack: []string{"v1beta2/deviceclasses"}},
		{config: map[string]string{"resource.k8s.io/v1beta1/deviceclasses": "true"}, has: []string{"v1beta1/deviceclasses"}, lack: []string{"v1beta1/resourceclaims"}},
		{config: map[string]string{"api/beta": "true"}, has: []string{"v1beta1/resourceclaims", "v1beta1/storageversionmigrations"}, lack: []string{"v1alpha3/devicetaintrules"}},
		{config: map[string]string{"api/all": "true", "resource.k8s.io/v1beta1": "false"}, has: []string{"v1alpha3/devicetaintrules"}, lack: []string{"v1beta1/resourceclaims"}},
		{config: map[string]string{"api/alpha": "true"}, has: []string{"v1alpha1/mutatingadmissionpolicies", "v1alpha1/storageversions"}, lack: []string{"v1alpha2/leasecandidates", "v1beta1/mutatingadmissionpolicies"}},
		{config: map[string]string{"coordination.k8s.io/v1beta1": "true"}, has: []string{"v1beta1/leasecandidates"}, lack: []string{"v1alpha2/leasecandidates"}},
		{config: map[string]string{"coordination.k8s.io/v1alpha2": "true"}, err: "coordination.k8s.io/v1alpha2/leasecandidates needs coordination.k8s.io/v1beta1/leasecandidates"},
		{config: map[string]string{"networking.k8s.io/v1beta1": "true"}, err: "Fairlead does not serve networking.k8s.io/v1beta1"}, // gone in 1.37
		{config: map[string]string{"resource.k8s.io/v1beta1": "perhaps"}, err: "invalid value of resource.k8s.io/v1beta1=perhaps"},
	} {
		asked, err := askedAPIs(c.config, gates.API{})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %v, want %q", c.config, err, c.err)
		}
		if err != nil {
			continue
		}
		ends := func(end string) bool {
			return slices.ContainsFunc(asked, func(gvr schema.GroupVersionResource) bool { return strings.HasSuffix(keyOf(gvr), end) })
		}
		for _, end := range c.has {
			if !ends(end) {
				t.Errorf("%v does not enable %s", c.config, end)
			}
		}
		for _, end := range c.lack {
			if ends(end) {
				t.Errorf("%v enables %s", c.config, end)
			}
		}
		if _, err := disabledAPIs(c.config, gates.API{Asked: asked}); err != nil {
			t.Errorf("%v: %v", c.config, err)
		}
	}
}

// TestPrecedence has versions, classes and api/all that contradict each other.
func TestPrecedence(t *testing.T) {
	on := map[string]bool{"api/all": false, "api/ga": true, "batch/v1": false, "batch/v1beta1": true}
	for version, want := range map[string]bool{"v1": false, "v1beta1": true, "v1alpha1": false, "v2": true} {
		if got := enabled(schema.GroupVersion{Group: "batch", Version: version}, on, true); got != want {
			t.Errorf("batch/%s: %t, want %t", version, got, want)
		}
	}
}

func TestPlugins(t *testing.T) {
	for _, c := range []struct {
		plugins plugins
		names   []string // disabled
		more    []string // enabled
		want    string
	}{
		{names: []string{"NodeRestriction"}},
		{plugins: plugins{enabled: []string{"NodeRestriction", "PodSecurity"}}},
		{plugins: plugins{disabled: []string{"ServiceAccount", "AlwaysDeny"}}, names: []string{"NodeRestriction", "ServiceAccount"}},
		{plugins: plugins{disabled: certificatePlugins}, names: []string{"NodeRestriction", "Certificates"}},
		{plugins: plugins{disabled: certificatePlugins[:1]}, want: "can only be disabled together"},
		{plugins: plugins{enabled: []string{"AlwaysPullImages"}}, names: []string{"NodeRestriction"}, more: []string{"AlwaysPullImages"}},
		{plugins: plugins{enabled: []string{"Nonsense"}}, want: `enable-admission-plugins plugin "Nonsense" is unknown`},
		{plugins: plugins{disabled: []string{"Nonsense"}}, want: `disable-admission-plugins plugin "Nonsense" is unknown`},
		{plugins: plugins{only: []string{"Nonsense"}}, want: `admission-control plugin "Nonsense" is unknown`},
		{plugins: plugins{only: []string{"AlwaysAdmit"}, enabled: []string{"AlwaysAdmit"}}, want: "mutually exclusive"},
		{plugins: plugins{only: slices.Concat(defaultPlugins[2:], ByRequest, []string{"AlwaysDeny"})}, names: []string{"NamespaceLifecycle", "LimitRanger"}, more: []string{"AlwaysDeny"}},
		{plugins: plugins{enabled: []string{"Priority"}, disabled: []string{"Priority"}}, want: "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped"},
	} {
		c.plugins.off = ByRequest
		names, more, err := c.plugins.names()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.plugins, err, c.want)
		}
		if diff := cmp.Diff([][]string{c.names, c.more}, [][]string{names, more}); c.want == "" && diff != "" {
			t.Errorf("%+v: %s", c.plugins, diff)
		}
	}
}
