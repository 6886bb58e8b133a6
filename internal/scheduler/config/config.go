package config

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1alpha1 "k8s.io/component-base/config/v1alpha1"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
)

// configuration is a KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1.
type configuration struct {
	metav1.TypeMeta          `json:",inline"`
	PercentageOfNodesToScore *int32              `json:"percentageOfNodesToScore"`
	PodInitialBackoffSeconds *int64              `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds     *int64              `json:"podMaxBackoffSeconds"`
	Profiles                 []profileConfig     `json:"profiles"`
	Extenders                []configv1.Extender `json:"extenders"`

	// LeaderElection is checked here, and is the program's.
	LeaderElection configv1alpha1.LeaderElectionConfiguration `json:"leaderElection"`

	// Fields without effect: one goroutine schedules pods, and the connection is flags of the program.
	Parallelism               *int32         `json:"parallelism"`
	ClientConnection          map[string]any `json:"clientConnection"`
	EnableProfiling           *bool          `json:"enableProfiling"`
	EnableContentionProfiling *bool          `json:"enableContentionProfiling"`
	DelayCacheUntilActive     bool           `json:"delayCacheUntilActive"`
}

type profileConfig struct {
	SchedulerName            *string        `json:"schedulerName"`
	PercentageOfNodesToScore *int32         `json:"percentageOfNodesToScore"`
	Plugins                  pluginSets     `json:"plugins"`
	PluginConfig             []pluginConfig `json:"pluginConfig"`
}

type pluginConfig struct {
	Name string               `json:"name"`
	Args runtime.RawExtension `json:"args"`
}

// Configuration is a checked KubeSchedulerConfiguration.
type Configuration struct {
	Profiles                   []framework.Profile
	Extenders                  []*extenders.Extender
	InitialBackoff, MaxBackoff time.Duration
	// Notes tell of settings that are accepted but have no effect here.
	Notes []string
}

// Load reads a KubeSchedulerConfiguration in YAML or JSON. It may name plugins of from, which may be nil.
func Load(data []byte, from External) (Configuration, error) {
	var c configuration
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return Configuration{}, fmt.Errorf("scheduler configuration: %w", err)
	}
	if c.APIVersion != "kubescheduler.config.k8s.io/v1" || c.Kind != "KubeSchedulerConfiguration" {
		return Configuration{}, fmt.Errorf("scheduler configuration: no kind %q is registered for version %q; want KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1", c.Kind, c.APIVersion)
	}
	o, errs := c.options(from)
	if len(errs) > 0 {
		return Configuration{}, fmt.Errorf("scheduler configuration: %w", errors.Join(errs...))
	}
	return o, nil
}

func (c *configuration) options(from External) (o Configuration, errs []error) {
	bad := func(err error) { errs = append(errs, err) }
	initial, most := int64(1), int64(10)
	if c.PodInitialBackoffSeconds != nil {
		initial = *c.PodInitialBackoffSeconds
	}
	if c.PodMaxBackoffSeconds != nil {
		most = *c.PodMaxBackoffSeconds
	}
	if initial <= 0 {
		bad(field.Invalid(field.NewPath("podInitialBackoffSeconds"), initial, "must be greater than 0"))
	}
	if most < initial {
		bad(field.Invalid(field.NewPath("podMaxBackoffSeconds"), most, "must be greater than or equal to PodInitialBackoffSeconds"))
	}
	o.InitialBackoff, o.MaxBackoff = time.Duration(initial)*time.Second, time.Duration(most)*time.Second
	var extenderErrs []error
	o.Extenders, extenderErrs = newExtenders(field.NewPath("extenders"), c.Extenders)
	errs = append(errs, extenderErrs...)
	if c.Parallelism != nil && *c.Parallelism <= 0 {
		bad(field.Invalid(field.NewPath("parallelism"), *c.Parallelism, "should be an integer value greater than zero"))
	}
	share := func(path *field.Path, v *int32) {
		if v != nil && (*v < 0 || *v > 100) {
			bad(field.Invalid(path, *v, "not in valid range [0-100]"))
		}
	}
	share(field.NewPath("percentageOfNodesToScore"), c.PercentageOfNodesToScore)
	errs = append(errs, checkElection(field.NewPath("leaderElection"), c.LeaderElection)...)

	if len(c.Profiles) == 0 {
		c.Profiles = []profileConfig{{}}
	}
	if len(c.Profiles) == 1 && c.Profiles[0].SchedulerName == nil {
		name := corev1.DefaultSchedulerName
		c.Profiles[0].SchedulerName = &name
	}
	seen := map[string]*field.Path{}
	for i, p := range c.Profiles {
		path := field.NewPath("profiles").Index(i)
		share(path.Child("percentageOfNodesToScore"), p.PercentageOfNodesToScore)
		if p.SchedulerName == nil || *p.SchedulerName == "" {
			bad(field.Required(path.Child("schedulerName"), ""))
			continue
		}
		if first := seen[*p.SchedulerName]; first != nil {
			bad(field.Duplicate(path.Child("schedulerName"), first.Child("schedulerName")))
		}
		seen[*p.SchedulerName] = path
		args, argErrs := readArgs(path.Child("pluginConfig"), p.PluginConfig, from)
		errs = append(errs, argErrs...)
		ignoreManaged(args, o.Extenders)
		profile, err := newProfile(p, args, from)
		if err != nil {
			bad(fmt.Errorf("%s: %w", path.Child("plugins"), err))
			continue
		}
		if p.PercentageOfNodesToScore == nil {
			p.PercentageOfNodesToScore = c.PercentageOfNodesToScore
		}
		if p.PercentageOfNodesToScore != nil {
			profile.PercentageOfNodesToScore = int(*p.PercentageOfNodesToScore)
		}
		o.Profiles = append(o.Profiles, profile)
	}
	o.Notes = c.notes()
	errs = append(errs, c.checkQueueSort()...)
	return o, errs
}
