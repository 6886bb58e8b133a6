package controlplane

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"

	"fairlead.dev/client"
	"fairlead.dev/client/leader"
	"fairlead.dev/client/report"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/controllers/cabundle"
	"fairlead.dev/internal/controllers/certificates"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/node/volumes"
	"fairlead.dev/internal/nodegroups"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/server/auth/token"
	"fairlead.dev/node"
	"fairlead.dev/scheduler"
	"fairlead.dev/trace"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// The users of the parts of the client side, with the names of upstream's programs. Each
// built-in controller writes as its own service account of kube-system.
const (
	controllersUser = "system:kube-controller-manager"
	schedulerUser   = "system:kube-scheduler"
	nodesUser       = "system:node:fairlead"
)

// The leases, in kube-system, of the parts that only one process may run at a time. The
// first two are upstream's, so that its programs and ours exclude each other.
const (
	controllersLease = "kube-controller-manager"
	schedulerLease   = "kube-scheduler"
	nodesLease       = "fairlead-nodes"
)

// wire gives a client of the API server: in one process each part is a user of
// its own; with a kubeconfig all are that file's.
type wire func(user string) (*client.Client, error)

// clientSide runs the parts that speak to an API server, each until its context
// ends.
type clientSide struct {
	wire     wire
	log      *slog.Logger
	settings settings
	// elect makes each part wait for its lease, since others like it may run
	// elsewhere; nil runs it at once.
	elect *leader.Timing
	// lease is the lease of the only part; the usual one if empty.
	lease types.NamespacedName
	// record follows the record of a lease's holder; nil if the store below the server is not known.
	record func(lease types.NamespacedName, identity string) (_ leader.Record, closed func())
	// coordinated leaves it to the API server who gets the leases of controllers and scheduler; nil does not.
	coordinated *leader.Coordinated
	// local gets the nodes that run here, if a server of this process should reach them.
	local *simulated
	// built is called when a part has registered its queues; nil in a process of the part's own.
	built func()
}

// isBuilt reports that a part has registered its queues.
func (s clientSide) isBuilt() {
	if s.built != nil {
		s.built()
	}
}

// once runs a part, now or when its turn comes, until ctx ends.
func (s clientSide) once(ctx context.Context, user, lease string, part func(context.Context) error) error {
	if s.elect == nil {
		return part(ctx)
	}
	c, err := s.wire(user)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	who := leader.Candidate{
		Namespace: cmp.Or(s.lease.Namespace, metav1.NamespaceSystem), Name: cmp.Or(s.lease.Name, lease), Identity: host + "_" + uuid.NewString(),
		Timing: *s.elect, Log: s.log,
	}
	if lease != nodesLease {
		who.Coordinated = s.coordinated
	}
	if s.record != nil {
		record, closed := s.record(types.NamespacedName{Namespace: who.Namespace, Name: who.Name}, who.Identity)
		defer closed()
		who.Record = record
	}
	return leader.Run(ctx, c, who, part)
}

// Apart describes how a part runs in a process of its own.
type Apart struct {
	// Elect makes the part wait until it holds its lease, so that one of all processes with the lease's name works at a
	// time; nil runs it at once, whatever others do.
	Elect *leader.Timing
	// Lease is the lease to hold; that of Kubernetes' program in kube-system if empty.
	Lease types.NamespacedName
	// API, if its gate CoordinatedLeaderElection is on, makes the controllers or the scheduler a candidate for the lease, with
	// the API's version. Its gate StorageVersionAPI lets the controller of StorageVersions run, WorkloadWithJob makes
	// the Job controller give Jobs Workloads and PodGroups.
	API gates.API
	// Endpoints, if set, serves the process's health checks and metrics; see package component.
	Endpoints *Endpoints
	// config is what Endpoints serves at /configz.
	config map[string]json.RawMessage
}

// apart runs a part in a process of its own, over a client side whose every part is
// config's user, and reports its handling of events to a Fairlead server.
func apart(ctx context.Context, config *rest.Config, a Apart, name string, part func(context.Context, clientSide, partMetrics) error) error {
	ca, err := caBundle(config)
	if err != nil {
		return err
	}
	metrics := newPartMetrics()
	log := trace.New(trace.Options{Events: 1, Deliveries: reportedDeliveries, Metered: a.Endpoints != nil})
	c, err := client.New(config, client.Options{Trace: log, Observe: metrics.requests.Observe})
	if err != nil {
		return err
	}
	s := clientSide{
		wire:     func(string) (*client.Client, error) { return c, nil },
		log:      slog.New(outageLog{slog.Default().Handler()}),
		settings: settings{caBundle: cabundle.Fixed(ca), pools: metrics.pools, labels: metrics.labels},
		elect:    a.Elect,
		lease:    a.Lease,
	}
	if a.API.Enabled(gateElections) {
		s.coordinated = candidateVersions(a.API)
	}
	telling, stop := context.WithCancel(context.WithoutCancel(ctx))
	told := make(chan struct{})
	go func() {
		report.Run(telling, c, name)
		close(told)
	}()
	defer func() { stop(); <-told }()
	if a.Endpoints == nil {
		return part(ctx, s, metrics)
	}
	ctx, end := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.Endpoints.serve(ctx, c, s.log, metrics, a.config) })
	group.Go(func() error {
		defer end()
		return part(ctx, s, metrics)
	})
	return group.Wait()
}

// env is a part's environment: its own client and event recorder, and a set of informers
// that it may share with others.
func (s clientSide) env(user, component string, informers *informer.Set) (controller.Env, error) {
	c, err := s.wire(user)
	if err != nil {
		return controller.Env{}, err
	}
	return controller.Env{
		Client:    c,
		Informers: informers,
		Recorder:  client.NewRecorder(c, component),
		Log:       s.log.With("component", component),
	}, nil
}

// informers is a set that lists and watches as user.
func (s clientSide) informers(user string) (*informer.Set, error) {
	c, err := s.wire(user)
	if err != nil {
		return nil, err
	}
	return informer.NewSet(c).WithWatchTimeout(s.settings.pace.watches), nil
}

// controllers runs the controllers that list selects, over one set of informers.
func (s clientSide) controllers(ctx context.Context, list []string) error {
	return s.once(ctx, controllersUser, controllersLease, func(ctx context.Context) error { return s.runControllers(ctx, list) })
}

func (s clientSide) runControllers(ctx context.Context, list []string) error {
	informers, err := s.informers(controllersUser)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range selected(list, s.settings.ranges, s.settings.api) {
		user := controllersUser
		if b.account != "" {
			user = "system:serviceaccount:kube-system:" + b.account
		}
		env, err := s.env(user, b.account, informers)
		if err != nil {
			return err
		}
		run := b.new(env, s.settings)
		group.Go(func() error {
			defer env.Recorder.Close()
			if err := run.Run(ctx); err != nil {
				return fmt.Errorf("controller %s: %w", b.name, err)
			}
			return nil
		})
	}
	s.isBuilt()
	informers.Start(ctx)
	err = group.Wait()
	informers.Stop()
	return err
}

// scheduler runs the scheduler.
func (s clientSide) scheduler(ctx context.Context, o scheduler.Options) error {
	return s.once(ctx, schedulerUser, schedulerLease, func(ctx context.Context) error { return s.runScheduler(ctx, o) })
}

func (s clientSide) runScheduler(ctx context.Context, o scheduler.Options) error {
	informers, err := s.informers(schedulerUser)
	if err != nil {
		return err
	}
	env, err := s.env(schedulerUser, "default-scheduler", informers)
	if err != nil {
		return err
	}
	defer env.Recorder.Close()
	run := scheduler.New(env, o)
	s.isBuilt()
	informers.Start(ctx)
	defer informers.Stop()
	return run.Run(ctx)
}

// nodes runs simulated nodes, and node groups if they are not nil.
func (s clientSide) nodes(ctx context.Context, o node.Options, groups *nodegroups.Options) error {
	return s.once(ctx, nodesUser, nodesLease, func(ctx context.Context) error { return s.runNodes(ctx, o, groups) })
}

func (s clientSide) runNodes(ctx context.Context, o node.Options, groups *nodegroups.Options) error {
	informers, err := s.informers(nodesUser)
	if err != nil {
		return err
	}
	env, err := s.env(nodesUser, "kubelet", informers)
	if err != nil {
		return err
	}
	defer env.Recorder.Close()
	if s.local == nil {
		return s.withNodes(ctx, env, node.New(env, o), groups)
	}
	kubelets := memnet.Listen(net.TCPAddrFromAddrPort(netip.AddrPort{}))
	o.Listener = kubelets
	defer s.local.set(nil)
	run := node.New(env, o)
	s.local.set(&running{run, kubelets})
	return s.withNodes(ctx, env, run, groups)
}

// withNodes runs nodes, the driver of their simulated volumes, and node groups if they are not nil.
func (s clientSide) withNodes(ctx context.Context, env controller.Env, nodes *node.Nodes, groups *nodegroups.Options) error {
	driver := volumes.New(env)
	group, ctx := errgroup.WithContext(ctx)
	if groups != nil {
		run := nodegroups.New(env, nodes, *groups)
		group.Go(func() error {
			if err := run.Run(ctx); err != nil {
				return fmt.Errorf("node groups: %w", err)
			}
			return nil
		})
	}
	s.isBuilt()
	env.Informers.Start(ctx)
	defer env.Informers.Stop()
	group.Go(func() error { return nodes.Run(ctx) })
	group.Go(func() error { return driver.Run(ctx) })
	return group.Wait()
}

// Signing has the controllers' signing keys. A controller without its key does not sign.
type Signing struct {
	// Certificates is for approved CertificateSigningRequests.
	Certificates certificates.Options
	// Tokens is the key, RSA or ECDSA, of tokens that Secrets keep, whose public half the
	// API server knows.
	Tokens crypto.Signer
}

// ControllerOptions configure the controllers of RunControllers.
type ControllerOptions struct {
	// List is of the controllers to run, in CheckControllers' format.
	List    []string
	Signing Signing
	Ranges  Ranges
}

// RunControllers runs built-in controllers against any Kubernetes API server until ctx
// ends.
func RunControllers(ctx context.Context, config *rest.Config, o ControllerOptions, a Apart) error {
	var err error
	if a.config, err = controllersConfig(o, a); err != nil {
		return err
	}
	return apart(ctx, config, a, "controllers", func(ctx context.Context, s clientSide, _ partMetrics) error {
		s.settings.signing, s.settings.ranges = o.Signing.Certificates, o.Ranges
		if s.settings.api, err = s.servedAPI(ctx, a.API); err != nil {
			return err
		}
		if o.Signing.Tokens != nil {
			tokens, err := token.NewSecretSigner(o.Signing.Tokens)
			if err != nil {
				return err
			}
			s.settings.signToken = tokens.Sign
		}
		return s.controllers(ctx, o.List)
	})
}

// RunScheduler runs the scheduler against any Kubernetes API server until ctx ends.
func RunScheduler(ctx context.Context, config *rest.Config, o scheduler.Options, a Apart) error {
	var err error
	if a.config, err = schedulerConfig(o, a); err != nil {
		return err
	}
	return apart(ctx, config, a, "scheduler", func(ctx context.Context, s clientSide, m partMetrics) error {
		o.FeatureGates = s.servedGates(ctx)
		return s.scheduler(ctx, m.in(o))
	})
}

// RunNodes runs simulated nodes, and node groups if they are not nil, against any Kubernetes API server until ctx ends.
func RunNodes(ctx context.Context, config *rest.Config, o node.Options, groups *nodegroups.Options, a Apart) error {
	return apart(ctx, config, a, "nodes", func(ctx context.Context, s clientSide, m partMetrics) error {
		return s.nodes(ctx, o, m.of(groups))
	})
}

// caBundle is config's CA for the server; nil if it trusts the system's CAs or skips
// verification.
func caBundle(config *rest.Config) ([]byte, error) {
	if len(config.CAData) > 0 || config.CAFile == "" {
		return config.CAData, nil
	}
	return os.ReadFile(config.CAFile)
}
