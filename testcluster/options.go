package testcluster

import (
	"io"
	"time"
)

// Options are the options of a control plane. The zero value runs everything, with three nodes.
type Options struct {
	// Binary is the path of the program fairlead; "" means $FAIRLEAD_BINARY, or else the one in PATH, or else that of
	// `go tool fairlead`.
	Binary string

	// CRDs are CustomResourceDefinitions to create; their kinds are served when Start returns. A conversion webhook
	// is treated as those in Webhooks.
	CRDs Objects
	// Webhooks are MutatingWebhookConfigurations and ValidatingWebhookConfigurations to create. Each must call a
	// service: that is replaced by a URL at which the test serves the webhooks, as Env.Webhooks says.
	Webhooks Objects
	// Stages are objects of kwok's kinds, which define the lives of nodes and pods and the answers of kubelets. They
	// replace the default stages.
	Stages Objects

	// Nodes is the number of simulated nodes; 0 means three.
	Nodes int
	// NoNodes leaves the nodes out.
	NoNodes bool
	// Controllers are the controllers to run: "*" is all that are on by default, "name" one, and "-name" all but one; empty means all.
	Controllers []string
	// NoControllers leaves the controllers out.
	NoControllers bool
	// NoScheduler leaves the scheduler out.
	NoScheduler bool

	// Faults are injected before Start returns; see also Env.AddFault.
	Faults []Fault

	// Timeout limits the start, and each wait of Eventually and WaitFor; 0 means a minute.
	Timeout time.Duration
	// Log receives the log of the control plane as it is written. A test of New logs its end when it fails, with or
	// without a Log.
	Log io.Writer
}
