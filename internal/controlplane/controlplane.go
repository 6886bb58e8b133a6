package controlplane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/controllers/cabundle"
	"fairlead.dev/internal/controllers/certificates"
	"fairlead.dev/internal/controllers/devicetainteviction"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/internal/server/aggregate"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/token"
	"fairlead.dev/internal/server/spans"
	"fairlead.dev/internal/server/ui"
	"fairlead.dev/internal/storage/encryption"
	"fairlead.dev/server"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
	"fairlead.dev/trace"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// adminUser is the user of the kubeconfig, named as by kubeadm.
const adminUser = "kubernetes-admin"

// ControlPlane is a running control plane. Make it with Start.
type ControlPlane struct {
	options Options
	// base is the state to begin with; nil for that of the data directory, or an empty one, and after the start.
	base  *Frozen
	store store
	// shards are the stores of the resources that store does not have.
	shards []shard
	// keys encrypt the values of the store; nil without encryption.
	keys *encryption.Keys
	// sleeper runs the client side if it sleeps while there is no work; otherwise nil.
	sleeper *sleeper
	// evictions has the state of evictions from devices while the controllers sleep.
	evictions devicetainteviction.Memory
	// building is how many parts of the client side have not registered their queues yet.
	building atomic.Int64
	// credentials are its keys and certificates.
	credentials credentials
	// auditor records the requests; nil without an audit log.
	auditor *server.Auditor
	// lease is that of the API server; nil without one.
	lease *serverLease
	// registration is that of the server's StorageVersions; nil without them.
	registration *registration
	// spans is where spans of requests go; nil for requests that are not recorded.
	spans spans.Provider
	served
	// started records the progress of Start.
	started stages
	// page is the page for browsers, at /ui.
	page *ui.Page
	// simulated are the nodes of this process, if it has any.
	simulated simulated
	// http and listener serve requests, unless they come from a Front, through the entrance.
	http     *http.Server
	listener net.Listener
	entrance entrance
	// drain is nil without a Termination.
	drain *drain
	// advertised is where others reach the server.
	advertised netip.AddrPort
	etcd       etcdEndpoint
	socket     *socket
	entry      atomic.Pointer[kubeconfig.Entry]
	// renewing is held while keys and certificates change.
	renewing sync.Mutex

	// clients runs the parts of the client side and ends with stopClients; serving
	// runs the server's goroutines and ends with stopServing. failed is closed
	// when one of either has given up.
	clients     *errgroup.Group
	stopClients context.CancelFunc
	serving     *errgroup.Group
	stopServing context.CancelFunc
	failed      <-chan struct{}

	// stopping is set by the first Stop, which closes stopped. Other calls wait for the channel: in a bubble of
	// testing/synctest a wait for a mutex would keep the clock from moving.
	stopping atomic.Bool
	stopped  chan struct{}
	stopErr  error
	// beforeClose is called when the server has ended, and the store is still open; it may be nil.
	beforeClose func()
}

// Start starts a control plane and returns when its API server answers; the parts of the
// client side are starting by then. ctx limits the start only. On failure the error has one
// line, and Start leaves no new files behind.
func Start(ctx context.Context, o Options) (*ControlPlane, error) { return begin(ctx, o, nil) }

// begin is Start with a state to begin with.
func begin(ctx context.Context, o Options, base *Frozen) (*ControlPlane, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Definitions == nil {
		o.Definitions = &kwok.Definitions{} // the nodes and their usage have one
	}
	o.Access.setDefaults()
	if o.NoGarbageCollection {
		o.Controllers = append(slices.Clone(o.Controllers), "-garbagecollector")
	}
	if o.sleeps() && o.Trace == nil {
		o.Trace = trace.New(trace.Options{}) // which has the state of the queues
	}
	cp := &ControlPlane{options: o, base: base, page: ui.New(o.page()), stopped: make(chan struct{}), drain: newDrain(o.Termination)}
	cp.simulated.options = o.nodes()
	if err := cp.start(ctx); err != nil {
		cp.Stop()
		return nil, err
	}
	cp.base = nil // it is needed for the start only
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context) (err error) {
	o := cp.options
	if err := CheckDataDir(o.DataDir); err != nil {
		return err
	}
	if err := o.Etcd.check(); err != nil {
		return err
	}
	if cp.base != nil {
		cp.credentials = cp.base.credentials
		cp.credentials.uses.share()
	} else if cp.credentials, err = loadCredentials(ctx, &o.Access, &o.Serving, o.Log); err != nil {
		return err
	}
	if err := cp.listen(); err != nil {
		return err
	}
	if err := cp.open(ctx); err != nil {
		return err
	}
	if o.Front != nil {
		cp.credentials.servingCA = o.Front.CA
	}
	if cp.auditor, err = cp.openAudit(); err != nil {
		return err
	}
	if cp.spans, err = cp.openTracing(); err != nil {
		return err
	}
	if cp.served, err = newServer(ctx, o, cp.serverStore(), cp.serverShards(), cp.keys, cp.credentials, cp.auditor, cp.spans, cp.URL(), &cp.simulated, cp.page, &cp.started, cp.base.read()); err != nil {
		return err
	}
	cp.warnOverrides(cp.builtin)
	cp.started.reach(assembled)
	objects, err := cp.builtinObjects(ctx)
	if err != nil {
		return err
	}
	if err := cp.server.Bootstrap(ctx, objects, bootstrap.Reconcile); err != nil {
		return err
	}
	if cp.flows != nil {
		if err := cp.flows.Sync(ctx); err != nil {
			return err
		}
	}
	cp.started.reach(bootstrapped)
	if o.Host != nil {
		if err := o.Host.Prepare(ctx, cp); err != nil {
			return err
		}
	}
	cp.addresses.run(ctx)
	cp.started.reach(repaired)
	o.progress("Store", cp.describeStore())
	if err := cp.serve(); err != nil {
		return err
	}
	if err := cp.writeClientFiles(); err != nil {
		return err
	}
	o.progress("API server", cp.URL())
	if err := cp.serveEtcd(); err != nil {
		return err
	}
	if cp.socket, err = listenSocket(o); err != nil {
		return fmt.Errorf("the store's socket: %w", err)
	}
	if cp.socket != nil {
		cp.serving.Go(func() error { return cp.socket.serve(etcdserver.Config{Store: cp.store, Log: o.Log}) })
	}
	o.progress("Kubeconfig", cp.KubeconfigPath())
	if err := cp.keepLease(); err != nil {
		return err
	}
	if err := cp.registerVersions(ctx); err != nil {
		return err
	}
	return cp.startClients()
}

// serverStore returns the store for the server: its commits encrypt, if there are keys, and wake the client side if it
// sleeps.
func (cp *ControlPlane) serverStore() store {
	s := encrypted(cp.store, cp.keys)
	if !cp.options.sleeps() || len(cp.parts()) == 0 {
		return s
	}
	cp.sleeper = &sleeper{store: cp.store, log: cp.options.Trace, building: &cp.building}
	cp.simulated.sleeper = cp.sleeper
	return wakingStore{s, cp.sleeper}
}

// listen opens the ports, or takes the address of the Front.
func (cp *ControlPlane) listen() (err error) {
	o := cp.options
	if o.Front != nil {
		cp.advertised = o.Front.Address
		return nil
	}
	if cp.listener = o.Listener; cp.listener == nil {
		if cp.listener, err = listen(o.Network, o.Listen); err != nil {
			return err
		}
	}
	if cp.advertised, err = advertised(o, cp.listener.Addr()); err != nil {
		return err
	}
	if services := o.Access.ServiceCIDRs[0]; services.Addr().Is6() && cp.advertised.Addr().Is4() {
		return optionErrorf("service IP family %q must match public address family %q", services, cp.advertised.Addr())
	}
	cp.etcd.listener, err = listenEtcd(o)
	return err
}

// open opens the store, and completes the credentials with the authority's keys. Those of a fork are complete.
func (cp *ControlPlane) open(ctx context.Context) (err error) {
	o := cp.options
	if err := cp.loadKeys(); err != nil {
		return err
	}
	if cp.base != nil {
		s, err := cp.base.store.(*local.Store).Fork(ctx, 0, local.ForkOptions{Options: local.Options{History: o.History, MaxBytes: o.MaxStoreBytes, Trace: o.Trace, Logger: o.Log}})
		if err != nil {
			return err
		}
		cp.store = s
		return nil
	}
	if cp.store, err = openStore(ctx, o); err != nil {
		return err
	}
	if err := cp.openShards(ctx); err != nil {
		return err
	}
	authority, err := loadAuthority(ctx, o, cp.store)
	if err != nil {
		return err
	}
	cp.credentials.complete(authority)
	return nil
}

// builtinObjects returns the objects that every start creates or repairs. A fork has them, except that its address may be
// another one.
func (cp *ControlPlane) builtinObjects(ctx context.Context) ([]runtime.Object, error) {
	o := cp.startObjects()
	if cp.base != nil {
		return bootstrap.Service(o), nil
	}
	first, err := firstObjects(ctx, cp.options, cp.store)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(bootstrap.Objects(o), first, aggregate.Builtin(cp.server.Resources()))
	return slices.DeleteFunc(all, func(obj runtime.Object) bool {
		return slices.Contains(cp.options.DisabledAPIs, obj.GetObjectKind().GroupVersionKind().GroupVersion())
	}), nil
}

func (cp *ControlPlane) describeStore() string {
	if cp.options.InMemory {
		return "in memory"
	}
	if servers := cp.options.Etcd.Servers; len(servers) > 0 {
		text := fmt.Sprintf("etcd at %s, revision %s", strings.Join(servers, ", "), cp.store.Revision())
		for _, s := range cp.shards {
			text += fmt.Sprintf("; of %s at %s, revision %s", joined(s.resources), strings.Join(s.servers, ", "), s.Revision())
		}
		return text
	}
	return fmt.Sprintf("%s, revision %s", filepath.Join(cp.options.DataDir, storeDir), cp.store.Revision())
}

// serve starts to answer requests.
func (cp *ControlPlane) serve() error {
	if cp.options.Front == nil {
		config, err := cp.tlsConfig()
		if err != nil {
			return err
		}
		cp.http = cp.newHTTP(config)
	}
	ctx, stop := context.WithCancel(context.Background())
	cp.serving, ctx = errgroup.WithContext(ctx)
	cp.stopServing, cp.failed = stop, ctx.Done()
	if err := cp.serveDebug(ctx); err != nil {
		return err
	}
	cp.serving.Go(func() error { return cp.server.Run(ctx) })
	cp.serving.Go(func() error { return cp.extensions.Run(ctx) })
	cp.serving.Go(func() error { return cp.services.Run(ctx) })
	if cp.flows != nil {
		cp.serving.Go(func() error { return cp.flows.Run(ctx) })
	}
	if cp.renewsFiles() {
		cp.serving.Go(func() error { return cp.renewFiles(ctx) })
	}
	if cp.sharesKeys() {
		cp.serving.Go(func() error { return cp.followSharedKeys(ctx) })
	}
	if cp.rereads() {
		cp.serving.Go(func() error { return cp.reread(ctx) })
	}
	if cp.options.measures() && !cp.options.VirtualTime { // kubelets are in real time
		cp.serving.Go(func() error { return cp.meter.Run(ctx) })
	}
	cp.started.reach(working)
	if cp.http == nil {
		cp.entrance.set(cp.server)
		return nil
	}
	cp.serving.Go(func() error {
		if err := cp.http.ServeTLS(cp.connections.Listener(cp.listener), "", ""); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

// writeClientFiles writes the files for clients: the kubeconfig and the CA.
func (cp *ControlPlane) writeClientFiles() error {
	cert, key, err := cp.credentials.authority.Client(adminUser, auth.MastersGroup)
	if err != nil {
		return err
	}
	entry := kubeconfig.Entry{Name: cp.options.Context, Server: cp.URL(), CA: cp.credentials.servingCA.PEM(), Cert: cert, Key: key}
	cp.entry.Store(&entry)
	if cp.options.Network != nil && cp.options.Clock == nil || cp.options.Front != nil {
		return nil // no other process can reach it, or the Front's owner writes them
	}
	if err := os.MkdirAll(cp.options.DataDir, 0o700); err != nil {
		return err
	}
	if err := kubeconfig.ReplaceFile(cp.CAPath(), entry.CA, 0o644); err != nil {
		return err
	}
	return kubeconfig.Write(cp.KubeconfigPath(), entry)
}

// part is a part of the client side.
type part struct {
	name, detail string
	run          func(context.Context, clientSide) error
}

// parts are the parts of the client side that the options ask for.
func (cp *ControlPlane) parts() (all []part) {
	o := cp.options
	if n := len(selected(o.Controllers, o.Ranges, o.API)); n > 0 {
		all = append(all, part{"Controllers", strconv.Itoa(n) + " running", func(ctx context.Context, s clientSide) error { return s.controllers(ctx, o.Controllers) }})
	}
	if o.Scheduler {
		all = append(all, part{"Scheduler", "running", func(ctx context.Context, s clientSide) error { return s.scheduler(ctx, o.scheduling(cp.measured)) }})
	}
	if o.simulates() {
		all = append(all, part{"Nodes", o.simulatedNodes(), func(ctx context.Context, s clientSide) error {
			return s.nodes(ctx, o.nodes(), cp.measured.of(o.NodeGroups))
		}})
	}
	return all
}

// clientSide returns the client side of the server.
func (cp *ControlPlane) clientSide() (clientSide, error) {
	creds := cp.credentials
	if _, err := token.NewSecretSigner(creds.tokenKey()); err != nil {
		return clientSide{}, err
	}
	side := clientSide{
		wire: inProcess(cp.server, cp.options, cp.measured), log: cp.options.Log, elect: cp.options.Elect, record: cp.record, local: &cp.simulated,
		settings: settings{
			caBundle: creds.servingCA,
			signing: certificates.Options{Now: cp.options.realTime(), Authority: func() certificates.Authority {
				cert, key, chain := creds.authority.Signer()
				return certificates.Authority{Certificate: cert, Key: key, Chain: chain}
			}},
			signToken: func(account *corev1.ServiceAccount, secret string) (string, error) {
				tokens, err := token.NewSecretSigner(creds.tokenKey())
				if err != nil {
					return "", err
				}
				return tokens.Sign(account, secret)
			},
			pace:   cp.options.pace(),
			api:    cp.options.API,
			ranges: cp.options.Ranges,

			evictions: &cp.evictions,
			pools:     cp.measured.pools,
			labels:    cp.measured.labels,
		},
	}
	if hasElections(cp.options.API) {
		side.coordinated = candidateVersions(cp.options.API)
	}
	return side, nil
}

// startClients starts the parts that speak to the server, or lets them sleep.
func (cp *ControlPlane) startClients() error {
	ctx, stop := context.WithCancel(context.Background())
	cp.clients, ctx = errgroup.WithContext(ctx)
	cp.stopClients = stop
	parts := cp.parts()
	run := func(ctx context.Context, built func()) error {
		side, err := cp.clientSide() // a new one for each run, since the last one's caches are out of date
		if err != nil {
			return err
		}
		side.built = built
		group, ctx := errgroup.WithContext(ctx)
		for _, p := range parts {
			group.Go(func() error { return p.run(ctx, side) })
		}
		return group.Wait()
	}
	switch {
	case cp.sleeper != nil:
		cp.sleeper.run, cp.sleeper.parts = run, len(parts)
		cp.sleeper.begin(ctx, cp.clients, cp.base.begins())
	case len(parts) > 0:
		cp.building.Store(int64(len(parts)))
		cp.clients.Go(func() error { return run(ctx, func() { cp.building.Add(-1) }) })
	}
	if hasElections(cp.options.API) {
		cp.clients.Go(func() error { return cp.holdElections(ctx) })
	}
	for _, p := range parts {
		cp.options.progress(p.name, p.detail)
	}
	if host := cp.options.Host; host != nil {
		cp.clients.Go(func() error { return host.Run(ctx, cp) })
	}
	context.AfterFunc(ctx, func() {
		// A part that fails stops the others: half a control plane would seem alive and do
		// no work. In an ordinary stop the server keeps answering until the parts have
		// ended.
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			cp.stopServing()
		}
	})
	return nil
}

// Wait returns when ctx ends, or earlier with the error of a part that failed.
func (cp *ControlPlane) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-cp.failed:
		return cp.Stop()
	}
}

// Stop ends all parts in order and returns the first error of a part. It takes less than
// two seconds, whatever clients do.
func (cp *ControlPlane) Stop() error {
	if cp.stopping.CompareAndSwap(false, true) {
		cp.stopErr = cp.shutdown()
		close(cp.stopped)
	}
	<-cp.stopped
	return cp.stopErr
}

// URL is the API server's base URL.
func (cp *ControlPlane) URL() string {
	if cp.options.Front != nil {
		return cp.options.Front.URL
	}
	host, port, err := net.SplitHostPort(cp.listener.Addr().String())
	if err != nil {
		return "https://" + cp.listener.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = defaultHost
	}
	return "https://" + net.JoinHostPort(host, port)
}

// Advertised is the address at which other machines reach the server.
func (cp *ControlPlane) Advertised() netip.AddrPort { return cp.advertised }

// Trace is the log of the lives of events, nil without one.
func (cp *ControlPlane) Trace() *trace.Log { return cp.options.Trace }

// PageURL is a link to the page, which logs in as the kubeconfig's user, once, within a
// few minutes.
func (cp *ControlPlane) PageURL() string {
	return cp.URL() + cp.page.Link(auth.Authenticated(&auth.User{Name: adminUser, Groups: []string{auth.MastersGroup}})).Path
}

// KubeconfigPath is the file that clients are pointed at.
func (cp *ControlPlane) KubeconfigPath() string {
	if cp.options.Kubeconfig != "" {
		return cp.options.Kubeconfig
	}
	return filepath.Join(cp.options.DataDir, kubeconfigFile)
}

// CAPath is the file with the certificate that the server's is signed by.
func (cp *ControlPlane) CAPath() string { return filepath.Join(cp.options.DataDir, caFile) }

// ServingCA has the certificates that verify the server's.
func (cp *ControlPlane) ServingCA() cabundle.Bundle { return cp.credentials.servingCA }

// Entry is the content of the kubeconfig.
func (cp *ControlPlane) Entry() kubeconfig.Entry { return *cp.entry.Load() }

// Config is the access of the kubeconfig, for clients of this process that want
// to go over the socket.
func (cp *ControlPlane) Config() *rest.Config {
	entry := cp.Entry()
	config := &rest.Config{Host: entry.Server, TLSClientConfig: rest.TLSClientConfig{
		CAData: entry.CA, CertData: entry.Cert, KeyData: entry.Key,
	}}
	if n := cp.options.Network; n != nil {
		config.Dial = n.Dial
	}
	return config
}
