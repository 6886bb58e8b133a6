package nodegroups

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/nodegroups/externalgrpc"
	"fairlead.dev/node"
)

// DefaultAddress is the address of the service by default: the port is that of the autoscaler's examples.
const DefaultAddress = "127.0.0.1:8086"

// retryAfter is the pause after an error of the API server.
const retryAfter = time.Second

// Options of Groups.
type Options struct {
	File *File
	// Address is where the gRPC service listens; DefaultAddress if empty.
	Address string
	// TLS is the configuration of the service; nil serves without TLS.
	TLS *tls.Config
	// Metrics count the groups; optional.
	Metrics *Metrics
}

// Groups are the node groups of a file. Make them with New, start them with Run.
type Groups struct {
	env     controller.Env
	nodes   *node.Nodes
	options Options
	maps    client.Resource[*corev1.ConfigMap]
	api     client.Resource[*corev1.Node]
	groups  map[string]*Group
	seen    *informer.Store[*corev1.Node] // for the metrics
	// stored is the ConfigMap, to which events refer. It is set before any call.
	stored *corev1.ConfigMap
	// states has the states of the groups while no goroutine uses them: its receiver has the turn, and sends them back.
	states chan map[string]*state
	// changed is rung when instances may be begun.
	changed chan struct{}
}

// New returns groups whose nodes are simulated by nodes, which adopt Nodes. They start with Run.
func New(env controller.Env, nodes *node.Nodes, o Options) *Groups {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	gs := &Groups{
		env: env, nodes: nodes, options: o,
		maps:    client.For[*corev1.ConfigMap](env.Client).Namespace(metav1.NamespaceSystem),
		api:     client.For[*corev1.Node](env.Client),
		groups:  map[string]*Group{},
		states:  make(chan map[string]*state, 1),
		changed: make(chan struct{}, 1),
	}
	for i := range o.File.Groups {
		g := &o.File.Groups[i]
		gs.groups[g.Name] = g
	}
	nodesSeen := informer.For[*corev1.Node](env.Informers)
	gs.seen = nodesSeen.Store()
	nodesSeen.Handle(informer.Handler[*corev1.Node]{
		Name: "node-groups",
		Delete: func(last *corev1.Node) {
			if last.Labels[GroupLabel] != "" {
				gs.ring()
			}
		},
	})
	return gs
}

// Run serves the groups until ctx ends, which is no error. It may be called once.
func (gs *Groups) Run(ctx context.Context) error {
	l, err := net.Listen("tcp", cmp.Or(gs.options.Address, DefaultAddress))
	if err != nil {
		return err
	}
	defer l.Close()
	select {
	case <-gs.nodes.Joined():
	case <-ctx.Done():
		return nil
	}
	if err := gs.load(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	defer gs.options.Metrics.follow(func() []*corev1.Node { return gs.seen.List("") })()
	var options []grpc.ServerOption
	if gs.options.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(gs.options.TLS)))
	}
	server := grpc.NewServer(options...)
	externalgrpc.RegisterCloudProviderServer(server, &service{groups: gs})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { gs.provision(ctx) })
	all.Go(func() {
		<-ctx.Done()
		server.Stop()
	})
	err = server.Serve(l)
	stop()
	if errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// load reads the states, and requests the missing instances of groups below their minimum. It tries again until the server
// answers.
func (gs *Groups) load(ctx context.Context) error {
	for {
		all, stored, err := loadStates(ctx, gs.maps)
		for i := range gs.options.File.Groups {
			if err == nil {
				err = gs.begin(ctx, &gs.options.File.Groups[i], all)
			}
		}
		var unreadable unreadableState
		switch {
		case err == nil:
			gs.stored = stored
			gs.states <- all
			return nil
		case errors.As(err, &unreadable):
			return err
		case ctx.Err() != nil:
			return nil
		}
		gs.env.Log.Warn("reading the node groups", "err", err)
		pause(ctx, retryAfter)
	}
}

// begin brings the stored state of a group in line with the file.
func (gs *Groups) begin(ctx context.Context, g *Group, all map[string]*state) error {
	s := all[g.Name]
	if s == nil {
		s = &state{Since: time.Now()}
	}
	s = s.clone()
	s.Min, s.Max, s.PricePerHour = g.Min, g.Max, g.PricePerHour
	nodes, err := gs.nodesOf(ctx, g, s)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		s.Last = max(s.Last, g.numberOf(n)) // the ConfigMap may have been deleted
	}
	s.request(g.Min-s.size(nodes), time.Now())
	return gs.keep(ctx, g, s, all)
}

// keep stores a new state of a group.
func (gs *Groups) keep(ctx context.Context, g *Group, s *state, all map[string]*state) error {
	if err := s.store(ctx, gs.maps, g.Name); err != nil {
		return err
	}
	all[g.Name] = s
	gs.options.Metrics.see(g.Name, s)
	return nil
}

// request adds instances without a Node.
func (s *state) request(count int, now time.Time) {
	for range count {
		s.Last++
		s.Instances = append(s.Instances, instance{Number: s.Last, Requested: now})
	}
}

// size returns the size of a group with these Nodes.
func (s *state) size(nodes []*corev1.Node) int {
	size := len(s.Instances)
	for _, n := range nodes {
		if n.DeletionTimestamp == nil {
			size++
		}
	}
	return size
}

// nodesOf returns the Nodes of a group, apart from those of instances that are about to be removed from its state.
func (gs *Groups) nodesOf(ctx context.Context, g *Group, s *state) ([]*corev1.Node, error) {
	list, err := gs.api.List(ctx, metav1.ListOptions{LabelSelector: GroupLabel + "=" + g.Name})
	if err != nil {
		return nil, err
	}
	pending := map[string]bool{}
	for _, i := range s.Instances {
		pending[g.id(g.instanceName(i.Number))] = true
	}
	var nodes []*corev1.Node
	for _, n := range list.Items {
		if !pending[n.Spec.ProviderID] {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// ring wakes the goroutine that provisions.
func (gs *Groups) ring() {
	select {
	case gs.changed <- struct{}{}:
	default:
	}
}

// turn waits for the turn, and calls do with the states. A new state that do stores becomes the group's.
func (gs *Groups) turn(ctx context.Context, do func(map[string]*state) error) error {
	select {
	case all := <-gs.states:
		defer func() { gs.states <- all }()
		return do(all)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
