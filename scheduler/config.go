package scheduler

import (
	"fairlead.dev/internal/scheduler/config"
)

// LoadConfig reads a KubeSchedulerConfiguration, in YAML or JSON, as kube-scheduler's
// flag --config does: profiles with their plugins, weights and arguments, backoff and the
// share of nodes to score. What it does not know, and what asks for something that is not
// there (extenders, plugins of other programs), is an error.
func LoadConfig(data []byte) (Options, error) {
	c, err := config.Load(data)
	if err != nil {
		return Options{}, err
	}
	return Options{Profiles: c.Profiles, PodInitialBackoff: c.InitialBackoff, PodMaxBackoff: c.MaxBackoff}, nil
}
