package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	componentconfig "k8s.io/component-base/config"
	configv1alpha1 "k8s.io/component-base/config/v1alpha1"
	"k8s.io/component-base/config/validation"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/scheduler/plugins"
)

// Complete returns a KubeSchedulerConfiguration with the defaults of all fields that it leaves out, as kube-scheduler shows it
// at /configz and writes it by --write-config-to. Without data all is by default.
func Complete(data []byte) (*configv1.KubeSchedulerConfiguration, error) {
	c := &configv1.KubeSchedulerConfiguration{}
	if err := yaml.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	c.TypeMeta = metav1.TypeMeta{APIVersion: configv1.SchemeGroupVersion.String(), Kind: "KubeSchedulerConfiguration"}
	byDefault(&c.Parallelism, 16)
	byDefault(&c.PercentageOfNodesToScore, 0)
	byDefault(&c.PodInitialBackoffSeconds, 1)
	byDefault(&c.PodMaxBackoffSeconds, 10)
	byDefault(&c.EnableProfiling, true)
	if *c.EnableProfiling {
		byDefault(&c.EnableContentionProfiling, true)
	}
	completeElection(&c.LeaderElection)
	if c.ClientConnection.ContentType == "" {
		c.ClientConnection.ContentType = runtime.ContentTypeProtobuf
	}
	if c.ClientConnection.QPS == 0 {
		c.ClientConnection.QPS = 50
	}
	if c.ClientConnection.Burst == 0 {
		c.ClientConnection.Burst = 100
	}
	if len(c.Profiles) == 0 {
		c.Profiles = []configv1.KubeSchedulerProfile{{}}
	}
	if len(c.Profiles) == 1 {
		byDefault(&c.Profiles[0].SchedulerName, corev1.DefaultSchedulerName)
	}
	for i := range c.Profiles {
		if err := completeProfile(&c.Profiles[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func byDefault[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

func completeElection(e *configv1alpha1.LeaderElectionConfiguration) {
	byDefault(&e.LeaderElect, true)
	for field, usual := range map[*string]string{&e.ResourceLock: "leases", &e.ResourceNamespace: metav1.NamespaceSystem, &e.ResourceName: "kube-scheduler"} {
		if *field == "" {
			*field = usual
		}
	}
	for field, usual := range map[*metav1.Duration]time.Duration{
		&e.LeaseDuration: 15 * time.Second, &e.RenewDeadline: 10 * time.Second, &e.RetryPeriod: 2 * time.Second,
	} {
		if field.Duration == 0 {
			field.Duration = usual
		}
	}
}

// checkElection checks the leader election of a configuration that leaves out defaults.
func checkElection(path *field.Path, e configv1alpha1.LeaderElectionConfiguration) (errs []error) {
	completeElection(&e)
	for _, err := range validation.ValidateLeaderElectionConfiguration(&componentconfig.LeaderElectionConfiguration{
		LeaderElect: *e.LeaderElect, LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		ResourceLock: e.ResourceLock, ResourceName: e.ResourceName, ResourceNamespace: e.ResourceNamespace,
	}, path) {
		errs = append(errs, err)
	}
	if *e.LeaderElect && e.ResourceLock != "leases" {
		errs = append(errs, field.Invalid(path.Child("resourceLock"), e.ResourceLock, `resourceLock value must be "leases"`))
	}
	return errs
}

// completeProfile adds the default plugins and their arguments.
func completeProfile(p *configv1.KubeSchedulerProfile) error {
	if p.Plugins == nil {
		p.Plugins = &configv1.Plugins{}
	}
	p.Plugins.MultiPoint = merged(p.Plugins.MultiPoint)
	for i := range p.PluginConfig {
		if err := completeArgs(&p.PluginConfig[i]); err != nil {
			return err
		}
	}
	for _, of := range defaultArgs {
		on := slices.ContainsFunc(p.Plugins.MultiPoint.Enabled, func(e configv1.Plugin) bool { return e.Name == of.name })
		has := slices.ContainsFunc(p.PluginConfig, func(c configv1.PluginConfig) bool { return c.Name == of.name })
		if !on || has {
			continue
		}
		c := configv1.PluginConfig{Name: of.name}
		if err := completeArgs(&c); err != nil {
			return err
		}
		p.PluginConfig = append(p.PluginConfig, c)
	}
	return nil
}

// merged returns the default plugins of multiPoint with a file's changes.
func merged(set configv1.PluginSet) configv1.PluginSet {
	disabled := func(name string) bool {
		return slices.ContainsFunc(set.Disabled, func(d configv1.Plugin) bool { return d.Name == "*" || d.Name == name })
	}
	all := configv1.PluginSet{Disabled: set.Disabled}
	own := slices.Clone(set.Enabled)
	for _, name := range defaultOrder() {
		if disabled(name) {
			continue
		}
		p := configv1.Plugin{Name: name, Weight: ptr.To[int32](0)} // as kube-scheduler writes it
		if k := plugins.Find(name); k != nil && k.Score != nil && k.Weight > 0 && name != "VolumeBinding" {
			p.Weight = ptr.To(int32(k.Weight))
		}
		if i := slices.IndexFunc(own, func(o configv1.Plugin) bool { return o.Name == name }); i >= 0 {
			p = own[i]
			own = slices.Delete(own, i, i+1)
		}
		all.Enabled = append(all.Enabled, p)
	}
	all.Enabled = append(all.Enabled, own...)
	return all
}

// defaultOrder returns the default plugins in kube-scheduler's order.
func defaultOrder() []string {
	names := []string{"SchedulingGates", "PrioritySort"}
	for i := range plugins.All {
		switch name := plugins.All[i].Name; name {
		case "NodeUnschedulable": // which comes after NodeName there
		case "NodeName":
			names = append(names, "NodeName", "NodeUnschedulable")
		case "NodeResourcesBalancedAllocation":
			names = append(names, "DefaultPreemption", name)
		case "NodeDeclaredFeatures":
			names = append(names, "DefaultBinder", name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// defaultArgs are the default arguments of the plugins that have any, in the order in which kube-scheduler adds them.
var defaultArgs = []struct{ name, args string }{
	{"DefaultPreemption", `{"minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":100}`},
	{"DynamicResources", `{"filterTimeout":"10s","bindingTimeout":"10m0s"}`},
	{"InterPodAffinity", `{"hardPodAffinityWeight":1,"ignorePreferredTermsOfExistingPods":false}`},
	{"NodeAffinity", `{}`},
	{"NodeResourcesBalancedAllocation", `{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}`},
	{"NodeResourcesFit", `{"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}}`},
	{"PodTopologySpread", `{"defaultingType":"System"}`},
	{"VolumeBinding", `{"bindTimeoutSeconds":600,"shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}]}`},
}

// completeArgs adds the default arguments of a plugin to those that a file has.
func completeArgs(c *configv1.PluginConfig) error {
	i := slices.IndexFunc(defaultArgs, func(d struct{ name, args string }) bool { return d.name == c.Name })
	if i < 0 {
		return nil
	}
	args := map[string]any{}
	if err := json.Unmarshal([]byte(defaultArgs[i].args), &args); err != nil {
		return err
	}
	if len(c.Args.Raw) > 0 {
		if err := json.Unmarshal(c.Args.Raw, &args); err != nil {
			return err
		}
	}
	args["apiVersion"], args["kind"] = configv1.SchemeGroupVersion.String(), c.Name+"Args"
	raw, err := json.Marshal(args)
	c.Args = runtime.RawExtension{Raw: raw}
	return err
}
