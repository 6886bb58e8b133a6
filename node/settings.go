package node

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/node/eviction"
	"fairlead.dev/internal/node/kubeletconfig"
)

// KubeletConfigAnnotation of a Node is the KubeletConfiguration of its kubelet, in YAML or JSON.
const KubeletConfigAnnotation = kubeletconfig.Annotation

// SystemUsageAnnotation of a Node is the usage of its machine beside that of its pods: memory=200Gi,
// ephemeral-storage=80Gi,processes=30000.
const SystemUsageAnnotation = "fairlead.dev/system-usage"

// settings are those of a node's annotations.
type settings struct {
	configText, usageText string
	config                *kubeletconfig.Config // nil for the default
	usage                 eviction.Usage        // of the system
}

// kubelet returns the configuration.
func (s *settings) kubelet() *kubeletconfig.Config {
	if s.config == nil {
		return kubeletconfig.Default
	}
	return s.config
}

// read takes over the annotations of a Node that have changed. A value that cannot be read is an error, and the former
// one stays.
func (s *settings) read(annotations map[string]string) (changed bool, err error) {
	if text := annotations[KubeletConfigAnnotation]; text != s.configText {
		s.configText, changed = text, true
		config := (*kubeletconfig.Config)(nil)
		if text != "" {
			config, err = readKubeletConfig(text)
		}
		if err == nil {
			s.config = config
		}
	}
	if text := annotations[SystemUsageAnnotation]; text != s.usageText {
		s.usageText, changed = text, true
		usage, invalid := readUsage(text)
		if invalid == nil {
			s.usage = usage
		} else {
			err = invalid
		}
	}
	return changed, err
}

// readKubeletConfig also checks the parts that other packages read.
func readKubeletConfig(text string) (*kubeletconfig.Config, error) {
	config, err := kubeletconfig.Parse([]byte(text))
	if err == nil {
		_, err = eviction.New(config)
	}
	if err != nil {
		return nil, invalidAnnotation{KubeletConfigAnnotation, err}
	}
	return config, nil
}

func readUsage(text string) (u eviction.Usage, err error) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, amount, _ := strings.Cut(item, "=")
		to := map[string]*int64{"memory": &u.Memory, "ephemeral-storage": &u.Storage, "processes": &u.Processes}[name]
		q, err := resource.ParseQuantity(amount)
		if err != nil || to == nil || q.Sign() < 0 {
			return u, invalidAnnotation{SystemUsageAnnotation, errUsage(item)}
		}
		*to = q.Value()
	}
	return u, nil
}

// invalidAnnotation is the error of an annotation of a Node.
type invalidAnnotation struct {
	name string
	err  error
}

func (e invalidAnnotation) Error() string { return e.name + ": " + e.err.Error() }

// errUsage is the error of a part of a usage.
type errUsage string

func (e errUsage) Error() string {
	return string(e) + ": want memory, ephemeral-storage or processes, and an amount"
}

// limits returns the capacity of a node and its allocatable resources. With a configuration of its own a node keeps back
// the reserved resources and those of the hard eviction thresholds.
func (s *settings) limits(capacity corev1.ResourceList) (all, allocatable corev1.ResourceList) {
	all = capacity.DeepCopy()
	if s.config == nil {
		return all, capacity.DeepCopy()
	}
	if n := s.config.MaxPods; n > 0 {
		all[corev1.ResourcePods] = *resource.NewQuantity(int64(n), resource.DecimalSI)
	}
	allocatable = all.DeepCopy()
	kept := map[corev1.ResourceName]resource.Quantity{}
	if m, err := eviction.New(s.config); err == nil {
		maps.Copy(kept, m.Hard(all))
	}
	for name, q := range allocatable {
		q.Sub(kept[name])
		q.Sub(s.config.Reserved(name))
		if q.Sign() < 0 {
			q = *resource.NewQuantity(0, q.Format)
		}
		allocatable[name] = q
	}
	return all, allocatable
}
