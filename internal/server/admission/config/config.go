package config

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	podsecurity "k8s.io/pod-security-admission/admission/api"
)

// Config is the configuration of the plugins that have one. The zero value is that of a server without a configuration
// file, in which EventRateLimit and ImagePolicyWebhook are not asked.
type Config struct {
	// PodSecurity has the standards of namespaces without labels, and exemptions; nil is privileged, without exemptions.
	PodSecurity *podsecurity.PodSecurityConfiguration
	// EventLimits are the limits of EventRateLimit.
	EventLimits []EventLimit
	// ImagePolicy is nil if ImagePolicyWebhook is not asked.
	ImagePolicy *ImagePolicy
	// LimitedResources may only be consumed if a quota covers them.
	LimitedResources []LimitedResource
	// Tolerations are those of PodTolerationRestriction.
	Tolerations Tolerations
	// NodeSelectors are those of PodNodeSelector: the value of DefaultNodeSelector is for namespaces without an
	// annotation, that of the name of a namespace has the labels which its pods may select.
	NodeSelectors map[string]string
	// MutatingWebhooks and ValidatingWebhooks are the kubeconfig files with the server's credentials for webhooks, or "".
	MutatingWebhooks, ValidatingWebhooks string
}

// DefaultNodeSelector is a key of Config.NodeSelectors.
const DefaultNodeSelector = "clusterDefaultNodeSelector"

// Tolerations are the tolerations that pods get, and those that they may have. A namespace with annotations has its own.
type Tolerations struct {
	Default, Whitelist []corev1.Toleration
}

// readers decode the configuration of one plugin each. data is nil if there is no configuration.
var readers = map[string]func(c *Config, data []byte) error{
	"PodSecurity":                (*Config).readPodSecurity,
	"EventRateLimit":             (*Config).readEventLimits,
	"ImagePolicyWebhook":         (*Config).readImagePolicy,
	"ResourceQuota":              (*Config).readLimitedResources,
	"PodTolerationRestriction":   (*Config).readTolerations,
	"PodNodeSelector":            (*Config).readNodeSelectors,
	"MutatingAdmissionWebhook":   (*Config).readMutatingWebhooks,
	"ValidatingAdmissionWebhook": (*Config).readValidatingWebhooks,
	"MutatingAdmissionPolicy":    (*Config).readPolicies,
	"ValidatingAdmissionPolicy":  (*Config).readPolicies,
}

// Load reads the file at path, if path is not "", and returns the configuration of the plugins with the names.
func Load(path string, names []string) (Config, error) {
	var c Config
	f, err := readFile(path)
	if err != nil {
		return c, err
	}
	names = slices.Sorted(slices.Values(names))
	for _, name := range slices.Compact(names) {
		read := readers[name]
		if read == nil {
			continue
		}
		data, err := f.of(name)
		if err == nil {
			err = read(&c, data)
		}
		if err != nil {
			return c, fmt.Errorf("couldn't init admission plugin %q: %w", name, err)
		}
	}
	return c, nil
}
