package controlplane

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"fairlead.dev/client/leader"
	"fairlead.dev/internal/controllers/nodeipam"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/nodegroups"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/internal/server/ui"
	"fairlead.dev/internal/virtualclock"
	"fairlead.dev/node"
	"fairlead.dev/scheduler"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/utils/ptr"
)

// Options configure a control plane. The zero value is an API server alone that keeps its
// data in the current directory; `fairlead up` fills it from its flags.
type Options struct {
	// DataDir is the directory of all files; it is created if it does not exist.
	DataDir string
	// InMemory keeps only the files for clients on disk: the kubeconfig and the CA's
	// certificate.
	InMemory bool
	// State, if not nil, is the state to begin with, in place of that of the data directory.
	State *State
	// Etcd is the cluster that stores everything except the content of DataDir then: the
	// keys and certificates, which all servers on one cluster must share, and the files for
	// clients.
	Etcd Etcd
	// Listen is the address of the API server; "" is the first free port of
	// 127.0.0.1 from 6443 on.
	Listen string
	// Listener, if not nil, is an open port of the API server, in place of Listen. The control plane closes it.
	Listener net.Listener
	// Network, if not nil, replaces the machine's network: the API server listens on it, and reaches webhooks and other
	// API servers by it. Then no file is written for clients.
	Network *memnet.Network
	// Front, if not nil, is the server that the requests come from: the control plane has no listener of its own, and
	// writes no file for clients.
	Front *Front
	// Host, if not nil, adds other control planes to this one's server.
	Host Host
	// Redirects has, for an address of a webhook or another API server (host and port), the address to dial in its place.
	Redirects map[string]string
	// VirtualTime makes periodic work rare, because a clock that jumps over idle time stops at each wake-up: nodes have
	// rare heartbeats (node.Options.RareHeartbeats), and watches get a bookmark once an hour.
	VirtualTime bool
	// Clock, if not nil, is the clock of the process, which clients advance. Its gateway connects other processes to
	// Network, so that the files for clients are written all the same.
	Clock *virtualclock.Clock
	// AdvertiseAddress is the IP address in the endpoints of the Service kubernetes; "" is that
	// of Listen, or, if Listen is all addresses, that of the default route's interface.
	AdvertiseAddress string
	// TLSNames are host names and IP addresses that the server's certificate is for besides
	// those that it is known to have.
	TLSNames []string
	// Flags are the process's flags, for /flagz; nil disables it.
	Flags map[string]string
	// Debug serves the paths below /debug/, which only users with a rule for them reach; nil leaves them out.
	Debug http.Handler
	// DebugSocket serves debugging to this user.
	DebugSocket DebugSocket
	// EtcdListen is where the store is served as etcd: a TCP address, or unix:// and the
	// path of a socket that only this user may connect to; "" for nowhere.
	EtcdListen string
	EtcdTLS    ServingFiles
	// EtcdListenInsecure allows an EtcdListen that other machines can reach without
	// certificates of their own.
	EtcdListenInsecure bool
	// Encryption configures the encryption of stored values.
	Encryption Encryption
	// Serving configures TLS of the API server.
	Serving Serving
	// HTTP configures the port beyond TLS, and Termination its end.
	HTTP        HTTP
	Termination Termination
	// Access configures authentication and authorization.
	Access Access
	// TracingConfigFile is a TracingConfiguration, which says where spans of requests go; "" records none. Forks and control
	// planes of a Host are not recorded.
	TracingConfigFile string
	// Tokens configures service account tokens.
	Tokens AccountTokens
	// Admission configures the admission plugins.
	Admission Admission
	// NodePorts is the range of the node ports of Services; the zero value is 30000 to 32767. A Service whose port is out of
	// a new range keeps it.
	NodePorts utilnet.PortRange
	// KubernetesNodePort is the node port of the Service kubernetes; with 0 it has the type ClusterIP.
	KubernetesNodePort int
	// Audit configures the audit log. Forks and control planes of a Host are not recorded.
	Audit server.AuditOptions
	// Kubelets configures the connections to kubelets.
	Kubelets Kubelets
	// API is the version of the Kubernetes API that is served, and its feature gates.
	API gates.API
	// DisabledAPIs are the versions that are not served.
	DisabledAPIs []schema.GroupVersion
	// EventTTL is how long events are kept; 0 is an hour.
	EventTTL time.Duration
	// NoGarbageCollection is a cluster without a garbage collector: none of the Controllers is one, and deletes ignore
	// what they ask for dependents.
	NoGarbageCollection bool
	// Limits are the limits on requests to the API server.
	Limits Limits
	// Fsync is when a write is on disk, NoSync the prefixes of keys that need not
	// be there before it is acknowledged, History how long superseded revisions
	// are kept; see local.Options.
	Fsync   local.Fsync
	NoSync  []string
	History time.Duration
	// AcceptTornTail opens a store whose log ends before the last acknowledged write; see
	// local.Options.
	AcceptTornTail bool
	// MaxStoreBytes limits the keys and values of a store in memory; see local.Options.
	MaxStoreBytes int64
	// MemoryLimit is the memory in bytes that the process may take; see server.Config. 0 is no limit.
	MemoryLimit int64
	// WatchHistory limits, in bytes, the changes of each resource that are kept in memory
	// for watches; 0 is watchcache's default. Watches that start earlier are served from
	// the store.
	WatchHistory int
	// CBOR serves and takes CBOR besides the other encodings.
	CBOR bool
	// Kubeconfig is where to write the kubeconfig; "" is a file in DataDir.
	Kubeconfig string
	// Renewed, if not nil, is called after the kubeconfig was written with renewed certificates, by one goroutine at a time.
	Renewed func(kubeconfig.Entry) error
	// Context is the name of the kubeconfig's context; "" is kubeconfig.Context.
	Context string

	// Controllers to run, in CheckControllers' format.
	Controllers []string
	// Ranges are the ranges of the controllers that give addresses.
	Ranges Ranges
	// Scheduler reports whether to run the scheduler.
	Scheduler bool
	// Scheduling are the scheduler's options.
	Scheduling scheduler.Options
	// Nodes is how many nodes to simulate.
	Nodes int
	// AdoptNodes makes the nodes simulate applied Nodes too: see node.Options.Adopt. Nil does if there are Nodes or NodeGroups.
	AdoptNodes *bool
	// NodeGroups are the node groups of an autoscaler, whose Nodes must be adopted; optional.
	NodeGroups *nodegroups.Options
	// NodeCapacity, NodeTemplate and NodeZones describe the nodes; see node.Options.
	NodeCapacity corev1.ResourceList
	NodeTemplate *corev1.Node
	NodeZones    []string
	// Devices are the devices of the nodes; see node.Options.
	Devices *node.Devices
	// Definitions define the stages of the nodes and their pods, and the kubelets' answers.
	Definitions *kwok.Definitions
	// Kinds are the kwok kinds whose objects the nodes also read from the server; see node.Options.
	Kinds []kwok.Definition

	// Sleeps makes the client side sleep while it is idle: controllers, scheduler and nodes then have no goroutines,
	// and nodes have rare heartbeats. It has no effect with VirtualTime, with Elect, with LeaseCandidates, and with a
	// store that other processes can write.
	Sleeps bool
	// Elect makes the controllers, the scheduler and the nodes run in one of all processes
	// on the cluster at a time; nil runs them here at once, which is right if no other
	// process can have the store.
	Elect *leader.Timing
	// Elections is the timing of the Lease that one of all API servers holds, which elects the holders of other Leases among
	// their LeaseCandidates, if the API has those.
	Elections leader.Timing

	// Trace records the lives of events, on both sides of the wire; nil disables it.
	Trace *trace.Log

	// Faults are the API server's injected faults; nil disables fault injection.
	Faults *faults.Set

	// Progress, if not nil, is called for each finished step, and Warning for facts that an
	// operator should know, both from several goroutines.
	Progress, Warning func(what, detail string)
	// Loading, if not nil, is called from time to time while the embedded store is opened or filled, with the part that is done and the total.
	Loading func(done, total int64)
	// Queued, if not nil, is called when a request begins to wait for its seats; see server.Config.
	Queued func()
	// Log is the operator's log; nil disables it.
	Log *slog.Logger
}

// Limits limit concurrent requests; see server.Config. 0 is the default of each, less than
// 0 no limit.
type Limits struct {
	MaxReads, MaxWrites int
	MaxBodyBytes        int64
	RequestTimeout      time.Duration
	// NoFairness refuses requests above the limits at once, in place of queues by priority; see server.Config.Fairness.
	NoFairness bool
}

// AccountTokens configures service account tokens, beyond Access.
type AccountTokens struct {
	// KeysURI is where clients find the keys, in the OpenID configuration; "" is the server itself.
	KeysURI string
	// NoExtension lets the tokens of pods expire when their pods are told. Without it they are valid for a year, for
	// clients that do not read their file again.
	NoExtension bool
}

// OptionError is the error of Start for an option with a wrong value. It names the option's flag.
type OptionError struct{ error }

// optionErrorf formats an OptionError.
func optionErrorf(format string, args ...any) error { return OptionError{fmt.Errorf(format, args...)} }

// realTime returns the clock of certificates, which clients of other processes verify too.
func (o Options) realTime() func() time.Time {
	if o.Clock == nil {
		return time.Now
	}
	return o.Clock.Real
}

// serverClock returns the server's Clock, nil without one.
func (o Options) serverClock() server.Clock {
	if o.Clock == nil {
		return nil
	}
	return o.Clock
}

// page returns the options of the page.
func (o Options) page() ui.Options {
	page := ui.Options{Faults: o.Faults != nil}
	if o.Clock != nil {
		page.RealTime = o.Clock.Real
	}
	return page
}

// sleeps reports whether the client side sleeps while it is idle.
func (o Options) sleeps() bool {
	return o.Sleeps && !o.VirtualTime && o.Elect == nil && len(o.Etcd.Servers) == 0 && !hasElections(o.API)
}

// measures reports whether the control plane serves metrics.k8s.io: one that brings pods to nodes does. An API server alone
// leaves it to metrics-server, as kube-apiserver does.
func (o Options) measures() bool { return o.Scheduler || o.simulates() }

// simulates reports whether there are, or may be, simulated nodes.
func (o Options) simulates() bool { return o.Nodes > 0 || o.adopts() }

// simulatedNodes describes the simulated nodes in a few words.
func (o Options) simulatedNodes() string {
	text := strconv.Itoa(o.Nodes) + " simulated"
	if g := o.NodeGroups; g != nil {
		text += fmt.Sprintf("; %d node groups at %s", len(g.File.Groups), g.Address)
	}
	return text
}

// adopts reports whether Nodes that are applied are simulated.
func (o Options) adopts() bool { return ptr.Deref(o.AdoptNodes, o.Nodes > 0 || o.NodeGroups != nil) }

// nodes returns the options of the nodes.
func (o Options) nodes() node.Options {
	return node.Options{
		Count: o.Nodes, Adopt: o.adopts(), Capacity: o.NodeCapacity, Template: o.NodeTemplate, Zones: o.NodeZones, Devices: o.Devices,
		RareHeartbeats: o.pace().rareHeartbeats, GroupClaims: hasGroupClaims(o.API), Definitions: o.Definitions, Kinds: o.Kinds, PodCIDR: o.simulatedPods(), Families: o.Access.families(),
	}
}

// simulatedPodRanges are the ranges of the addresses of simulated pods, in order of preference.
var simulatedPodRanges = []netip.Prefix{netip.MustParsePrefix("10.128.0.0/9"), netip.MustParsePrefix("100.64.0.0/10")}

// simulatedPods returns the range of the addresses of simulated pods: one that the pods of other nodes do not use,
// because the server sends no packet to it.
func (o Options) simulatedPods() netip.Prefix {
	for _, p := range simulatedPodRanges {
		if !slices.ContainsFunc(o.Ranges.Nodes.Ranges, func(r nodeipam.Range) bool { return r.Overlaps(p) }) {
			return p
		}
	}
	return simulatedPodRanges[0]
}

// warn calls Warning, or else logs.
func (o Options) warn(what, detail string) {
	if o.Warning == nil {
		o.Log.Warn(detail, "part", what)
		return
	}
	o.Warning(what, detail)
}

func (o Options) progress(what, detail string) {
	if o.Progress != nil {
		o.Progress(what, detail)
	}
}
