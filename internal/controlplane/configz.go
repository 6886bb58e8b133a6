package controlplane

import (
	"cmp"
	"encoding/json"
	"time"

	"fairlead.dev/scheduler"
)

// schedulerConfig returns what kube-scheduler serves at /configz.
func schedulerConfig(o scheduler.Options, a Apart) (map[string]json.RawMessage, error) {
	document := o.Document
	if document == nil {
		var err error
		if document, err = scheduler.CompleteConfig(nil); err != nil {
			return nil, err
		}
	}
	var of map[string]any
	if err := json.Unmarshal(document, &of); err != nil {
		return nil, err
	}
	of["leaderElection"] = electionConfig(a, schedulerLease)
	raw, err := json.Marshal(of)
	return map[string]json.RawMessage{"componentconfig": raw}, err
}

// controllersConfig returns what kube-controller-manager serves at /configz, whose fields have the names of Go: those that
// apply here.
func controllersConfig(o ControllerOptions, a Apart) (map[string]json.RawMessage, error) {
	list := o.List
	if len(list) == 0 {
		list = []string{"*"}
	}
	raw, err := json.Marshal(map[string]any{
		"kind": "KubeControllerManagerConfiguration", "apiVersion": "kubecontrollermanager.config.k8s.io/v1alpha1",
		"Generic": map[string]any{"Controllers": list, "LeaderElection": electionConfig(a, controllersLease)},
	})
	return map[string]json.RawMessage{"kubecontrollermanager.config.k8s.io": raw}, err
}

// electionConfig is a LeaderElectionConfiguration.
func electionConfig(a Apart, lease string) map[string]any {
	t := a.Elect
	of := map[string]any{
		"leaderElect": t != nil, "resourceLock": "leases", "resourceNamespace": cmp.Or(a.Lease.Namespace, "kube-system"), "resourceName": cmp.Or(a.Lease.Name, lease),
		"leaseDuration": "0s", "renewDeadline": "0s", "retryPeriod": "0s",
	}
	if t != nil {
		for name, d := range map[string]time.Duration{
			"leaseDuration": t.LeaseDuration, "renewDeadline": t.RenewDeadline, "retryPeriod": t.RetryPeriod,
		} {
			of[name] = d.String()
		}
	}
	return of
}
