package testenv

import (
	"io"
	"time"

	"fairlead.dev/scheduler"
)

// Options are the options of a control plane. The zero value runs everything, with three nodes.
type Options struct {
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

	// EnableCRDs are the kinds of Stages that the server has as API objects, too, in effect at once; "*" is all.
	EnableCRDs []string
	// Scheduling configures the scheduler, with profiles and plugins of your own for example.
	Scheduling scheduler.Options

	// DataDir keeps the data in a directory, for tests of restarts; "" keeps them in memory.
	DataDir string
	// Bubble runs the control plane in a bubble of testing/synctest, whose clock jumps over the time in which all
	// goroutines wait: it has no sockets, Config connects over pipes in memory, and work that is done at intervals
	// is done rarely (Leases of nodes are valid for an hour, for example). Start it in the bubble, in memory.
	Bubble bool
	// CBOR serves CBOR besides the other encodings, as kube-apiserver does with its gate CBORServingAndStorage open.
	CBOR bool
	// Limits are the API server's limits on requests.
	Limits Limits

	// Faults are injected before Start returns; see also Env.AddFault.
	Faults []Fault

	// Timeout limits the start, and each wait of Eventually and WaitFor; 0 means a minute.
	Timeout time.Duration
	// Log receives the log of the control plane as it is written. A test of New logs its end when it fails, with or
	// without a Log.
	Log io.Writer
}

// Limits limit the requests of all clients together.
type Limits struct {
	// MaxReads and MaxWrites are how many requests may run at once, watches and others that last by nature not counted. 0
	// means 400 and 200, less than 0 no limit. Their sum is divided among priority levels, in whose queues requests wait
	// before one is told 429; with NoFairness, one more is told 429 at once.
	MaxReads, MaxWrites int
	// MaxBodyBytes is the memory, in bytes, of the bodies of all requests that run; one more is told 429. 0 means 128 MiB,
	// less than 0 no limit. A user other than those of system:masters may have half of it, and with NoFairness half of the
	// requests.
	MaxBodyBytes int64
	// RequestTimeout is the time in which a request that does not last by nature must be answered, else it is told 504.
	// 0 means a minute.
	RequestTimeout time.Duration
	// NoFairness is kube-apiserver's --enable-priority-and-fairness=false.
	NoFairness bool
}
