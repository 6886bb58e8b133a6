package scheduler

import (
	"encoding/json"

	"fairlead.dev/internal/scheduler/config"
)

// External are the plugins of another framework that a configuration may name, and ExternalProfile those of one profile.
type (
	External        = config.External
	ExternalProfile = config.ExternalProfile
)

// LoadConfig reads a KubeSchedulerConfiguration, in YAML or JSON, as kube-scheduler's flag --config
// does: profiles with their plugins, weights and arguments, backoff and the percentage of nodes to
// score, and extenders. Unknown fields, and plugins that kube-scheduler 1.37 does not have, are errors.
func LoadConfig(data []byte) (Options, error) { return LoadConfigWith(data, nil) }

// LoadConfigWith is LoadConfig for a configuration that may name plugins of another framework.
func LoadConfigWith(data []byte, from External) (Options, error) {
	c, err := config.Load(data, from)
	if err != nil {
		return Options{}, err
	}
	document, err := CompleteConfig(data)
	if err != nil {
		return Options{}, err
	}
	return Options{
		Profiles: c.Profiles, PodInitialBackoff: c.InitialBackoff, PodMaxBackoff: c.MaxBackoff, Extenders: c.Extenders,
		Notes: c.Notes, Document: document,
	}, nil
}

// HasExtenders reports whether a KubeSchedulerConfiguration has extenders.
func HasExtenders(data []byte) (bool, error) { return config.HasExtenders(data) }

// CompleteConfig returns a KubeSchedulerConfiguration with all defaults, as JSON. Without data all is by default.
func CompleteConfig(data []byte) ([]byte, error) {
	c, err := config.Complete(data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(c)
}
