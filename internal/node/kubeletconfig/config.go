package kubeletconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Annotation of a Node is its KubeletConfiguration, in YAML or JSON.
const Annotation = "fairlead.dev/kubelet-config"

// APIVersion and Kind are upstream's.
const (
	APIVersion = "kubelet.config.k8s.io/v1beta1"
	Kind       = "KubeletConfiguration"
)

// Config is a KubeletConfiguration. Fields without a comment are upstream's.
type Config struct {
	metav1.TypeMeta `json:",inline"`

	EvictionHard                     map[string]string `json:"evictionHard,omitempty"`
	EvictionSoft                     map[string]string `json:"evictionSoft,omitempty"`
	EvictionSoftGracePeriod          map[string]string `json:"evictionSoftGracePeriod,omitempty"`
	EvictionMinimumReclaim           map[string]string `json:"evictionMinimumReclaim,omitempty"`
	EvictionPressureTransitionPeriod metav1.Duration   `json:"evictionPressureTransitionPeriod,omitempty"`
	EvictionMaxPodGracePeriod        int32             `json:"evictionMaxPodGracePeriod,omitempty"`
	MergeDefaultEvictionSettings     bool              `json:"mergeDefaultEvictionSettings,omitempty"`

	ShutdownGracePeriod              metav1.Duration `json:"shutdownGracePeriod,omitempty"`
	ShutdownGracePeriodCriticalPods  metav1.Duration `json:"shutdownGracePeriodCriticalPods,omitempty"`
	ShutdownGracePeriodByPodPriority []PriorityGrace `json:"shutdownGracePeriodByPodPriority,omitempty"`

	KubeReserved   Amounts `json:"kubeReserved,omitempty"`
	SystemReserved Amounts `json:"systemReserved,omitempty"`
	MaxPods        int32   `json:"maxPods,omitempty"`

	CrashLoopBackOff CrashLoopBackOff `json:"crashLoopBackOff,omitempty"`

	CPUManagerPolicy        string            `json:"cpuManagerPolicy,omitempty"`
	CPUManagerPolicyOptions map[string]string `json:"cpuManagerPolicyOptions,omitempty"`
	MemoryManagerPolicy     string            `json:"memoryManagerPolicy,omitempty"`
	ReservedMemory          []ReservedMemory  `json:"reservedMemory,omitempty"`
	TopologyManagerPolicy   string            `json:"topologyManagerPolicy,omitempty"`
	TopologyManagerScope    string            `json:"topologyManagerScope,omitempty"`
}

// PriorityGrace is the time that a shutdown gives to pods of a priority and above.
type PriorityGrace struct {
	Priority                   int32 `json:"priority"`
	ShutdownGracePeriodSeconds int64 `json:"shutdownGracePeriodSeconds"`
}

// CrashLoopBackOff limits the time between two restarts of a container.
type CrashLoopBackOff struct {
	MaxContainerRestartPeriod *metav1.Duration `json:"maxContainerRestartPeriod,omitempty"`
}

// Amounts are quantities by resource.
type Amounts map[corev1.ResourceName]resource.Quantity

// Default is the configuration of a node without one.
var Default = defaulted(&Config{})

// Parse reads a configuration in YAML or JSON and sets defaults.
func Parse(text []byte) (*Config, error) {
	c := &Config{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			err = fmt.Errorf("a field does not act on simulated nodes: %w", err)
		}
		return nil, err
	}
	if c.APIVersion != APIVersion || c.Kind != Kind {
		return nil, fmt.Errorf("want apiVersion %s and kind %s", APIVersion, Kind)
	}
	if errs := c.validate(); len(errs) > 0 {
		slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
		return nil, errs.ToAggregate()
	}
	return defaulted(c), nil
}

// defaulted sets upstream's defaults.
func defaulted(c *Config) *Config {
	if c.EvictionPressureTransitionPeriod.Duration == 0 {
		c.EvictionPressureTransitionPeriod.Duration = 5 * time.Minute
	}
	if c.CrashLoopBackOff.MaxContainerRestartPeriod == nil {
		c.CrashLoopBackOff.MaxContainerRestartPeriod = &metav1.Duration{Duration: 5 * time.Minute}
	}
	hard := map[string]string{"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%", "imagefs.inodesFree": "5%"}
	c.defaultManagers()
	switch {
	case c.EvictionHard == nil:
		c.EvictionHard = hard
	case c.MergeDefaultEvictionSettings:
		for signal, threshold := range c.EvictionHard {
			hard[signal] = threshold
		}
		c.EvictionHard = hard
	}
	return c
}

func (c *Config) validate() (errs field.ErrorList) {
	invalid := func(name string, value any, why string) {
		errs = append(errs, field.Invalid(field.NewPath(name), value, why))
	}
	total, critical := c.ShutdownGracePeriod.Duration, c.ShutdownGracePeriodCriticalPods.Duration
	switch {
	case total < 0 || total > 0 && total < time.Second:
		invalid("shutdownGracePeriod", total.String(), "must be either zero or otherwise >= 1 sec")
	case critical < 0 || critical > 0 && critical < time.Second:
		invalid("shutdownGracePeriodCriticalPods", critical.String(), "must be either zero or otherwise >= 1 sec")
	case critical > total:
		invalid("shutdownGracePeriodCriticalPods", critical.String(), "must be <= shutdownGracePeriod")
	}
	if len(c.ShutdownGracePeriodByPodPriority) > 0 && (total != 0 || critical != 0) {
		invalid("shutdownGracePeriodByPodPriority", len(c.ShutdownGracePeriodByPodPriority), "cannot be specified together with shutdownGracePeriod and shutdownGracePeriodCriticalPods")
	}
	seen := map[int32]bool{}
	for _, p := range c.ShutdownGracePeriodByPodPriority {
		if p.ShutdownGracePeriodSeconds < 0 || seen[p.Priority] {
			invalid("shutdownGracePeriodByPodPriority", p.Priority, "each priority once, with 0 seconds or more")
		}
		seen[p.Priority] = true
	}
	if m := c.CrashLoopBackOff.MaxContainerRestartPeriod; m != nil && (m.Duration < time.Second || m.Duration > 5*time.Minute) {
		invalid("crashLoopBackOff.maxContainerRestartPeriod", m.Duration.String(), "must be between 1s and 5m0s")
	}
	errs = append(errs, c.validateManagers()...)
	if c.MaxPods < 0 {
		invalid("maxPods", c.MaxPods, "must not be negative")
	}
	if c.EvictionPressureTransitionPeriod.Duration < 0 || c.EvictionMaxPodGracePeriod < 0 {
		invalid("evictionPressureTransitionPeriod", c.EvictionPressureTransitionPeriod.Duration.String(), "must not be negative, and neither must evictionMaxPodGracePeriod")
	}
	for name, list := range map[string]Amounts{"kubeReserved": c.KubeReserved, "systemReserved": c.SystemReserved} {
		for of, q := range list {
			if q.Sign() < 0 {
				invalid(name, q.String(), "the amount of "+string(of)+" must not be negative")
			}
		}
	}
	return errs
}

// Reserved returns the amount of a resource that is not for pods.
func (c *Config) Reserved(name corev1.ResourceName) resource.Quantity {
	sum := c.KubeReserved[name].DeepCopy()
	sum.Add(c.SystemReserved[name])
	return sum
}
