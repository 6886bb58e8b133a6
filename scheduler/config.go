package scheduler

import (
	"fairlead.dev/internal/scheduler/config"
)

// LoadConfig reads a KubeSchedulerConfiguration, in YAML or JSON, as kube-scheduler's flag --config
// does: profiles with their plugins, weights and arguments, backoff and the percentage of nodes to
// score, and extenders. Unknown fields, and features that this scheduler does not have (plugins of
// other programs), are errors.
func LoadConfig(data []byte) (Options, error) {
	c, err := config.Load(data)
	if err != nil {
		return Options{}, err
	}
	return Options{Profiles: c.Profiles, PodInitialBackoff: c.InitialBackoff, PodMaxBackoff: c.MaxBackoff, Extenders: c.Extenders}, nil
}
