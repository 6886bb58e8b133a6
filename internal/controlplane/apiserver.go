package controlplane

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"

	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/connections"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/flowcontrol"
	"fairlead.dev/internal/resource/metrics"
	"fairlead.dev/internal/server/admission/policy"
	"fairlead.dev/internal/server/admission/webhook"
	"fairlead.dev/internal/server/aggregate"
	"fairlead.dev/internal/server/audit"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/cert"
	"fairlead.dev/internal/server/auth/chain"
	"fairlead.dev/internal/server/auth/jwt"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/internal/server/auth/review"
	"fairlead.dev/internal/server/auth/token"
	"fairlead.dev/internal/server/barrier"
	"fairlead.dev/internal/server/componentmetrics"
	"fairlead.dev/internal/server/discovery"
	"fairlead.dev/internal/server/extension"
	"fairlead.dev/internal/server/flows"
	"fairlead.dev/internal/server/inflight"
	"fairlead.dev/internal/server/openapi"
	"fairlead.dev/internal/server/reach"
	"fairlead.dev/internal/server/spans"
	"fairlead.dev/internal/server/ui"
	measured "fairlead.dev/internal/server/usage"
	"fairlead.dev/internal/storage/encryption"
	"fairlead.dev/internal/trace/why"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
	"github.com/prometheus/client_golang/prometheus"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// served is an API server with the parts that follow its definitions and API services.
type served struct {
	server  *server.Server
	builtin []*resource.Resource
	// extensions are the kinds that definitions make the server serve.
	extensions *extension.Extensions
	// services are the APIServices.
	services  *aggregate.Services
	discovery *discovery.Handler
	addresses *addressRepair
	meter     *measured.Meter
	// measured counts the work of the client side.
	measured partMetrics
	// handshakeErrors counts failed TLS handshakes.
	handshakeErrors prometheus.Counter
	connections     *connections.Limit
	// barrier is nil if StorageVersions are not registered.
	barrier *barrier.Barrier
	// flows is nil if FlowSchemas are not served.
	flows *flows.Flows
}

// newServer assembles the API server over a store: authentication, authorization,
// admission, discovery and OpenAPI. It is reached at url.
func newServer(ctx context.Context, o Options, store store, shards []server.Shard, keys *encryption.Keys, creds credentials, auditor *server.Auditor, recorded spans.Provider, url string, local reach.Local, page *ui.Page, started *stages, known known) (served, error) {
	resources := known.builtin
	if resources == nil {
		resources = builtinResources(o)
	}
	kinds := known.discovery.For(resources)
	schemas := openapi.New(resources, resource.Scheme())
	schemas.CBOR = o.CBOR
	addresses := &addressRepair{log: o.Log}
	kubelets, err := o.Kubelets.options(o, creds)
	if err != nil {
		return served{}, err
	}
	var extensions *extension.Extensions
	var services *aggregate.Services
	var meter *measured.Meter
	stores := []func() error{store.Err}
	for _, s := range shards {
		stores = append(stores, s.Writable)
	}
	parts := newPartMetrics()
	writes := newBarrier(o.API, resources)
	handshakeErrors, conns := newHandshakeErrors(), connections.NewLimit(o.HTTP.MaxConnections)
	c := server.Config{
		Store:         store,
		Shards:        shards,
		TrustCaches:   len(o.Etcd.Servers) > 0,
		Resources:     resources,
		Discovery:     kinds,
		OpenAPI:       schemas,
		CBOR:          o.CBOR,
		NoWatchList:   !o.API.Enabled("WatchList"),
		EventTTL:      o.EventTTL,
		Local:         local,
		Dial:          dialer(o.Network),
		Redirects:     o.Redirects,
		Version:       kubernetesVersion(o.API),
		Log:           o.Log,
		History:       watchcache.HubOptions{History: max(0, o.History), HistoryBytes: o.WatchHistory, Begin: known.contents},
		Trace:         o.Trace,
		Audit:         auditor,
		Faults:        o.Faults,
		Clock:         o.serverClock(),
		Writable:      store.Err,
		Flags:         o.Flags,
		Debug:         o.Debug,
		BookmarkEvery: o.pace().bookmarks,
		MaxReads:      o.Limits.MaxReads, MaxWrites: o.Limits.MaxWrites, MaxBodyBytes: o.Limits.MaxBodyBytes, RequestTimeout: o.Limits.RequestTimeout,
		MemoryLimit: o.MemoryLimit,
		Fairness:    o.fairness(),
		Queued:      o.Queued,
		MoreMetrics: componentmetrics.Gatherer(slices.Concat(encryption.MetricPrefixes, chain.MetricPrefixes, jwt.MetricPrefixes)...),

		NoGarbageCollection:      o.NoGarbageCollection,
		WatchTimeout:             o.HTTP.WatchTimeout,
		MaxConnectionBytesPerSec: o.HTTP.MaxBytesPerSec,

		Wire: func(c *server.Config, s *server.Server) (err error) {
			if err := guard(c, s, o, creds, url, page, known.roles); err != nil {
				return err
			}
			s.Network().SetKubelets(kubelets)
			meter = measured.New(s.Cache(corev1.Resource("nodes")), s.Lookup(), s.Network(), o.Log)
			c.Reads = usage{s.Lookup(), o.Definitions, meter}.reads()
			c.Reads[corev1.Resource("componentstatuses")] = components{s.Lookup(), o, stores}.read
			services, err = aggregate.New(ctx, aggregate.Options{
				Server: s, Builtin: resources, Log: o.Log, Settle: func(ctx context.Context) error { return extensions.Settle(ctx) },
				Certificate: creds.frontProxy, Known: known.services, Trust: func() *corev1.ConfigMap { return bootstrap.Trust(creds.trusted(o.Access.FrontProxy)) }, Discovery: kinds, OpenAPI: schemas,
			})
			if err != nil {
				return err
			}
			c.Metrics.MustRegister(storeFailed(stores))
			creds.reloads.register(c.Metrics)
			c.Metrics.MustRegister(handshakeErrors, conns)
			if err := parts.register(o, c.Metrics); err != nil {
				return err
			}
			if err := c.Metrics.Register(services); err != nil {
				return err
			}
			extensions, err = extension.New(ctx, extension.Options{
				Server: s, Builtin: resources, Log: o.Log, Webhook: extension.Webhooks(webhook.NewCaller(s.Network())),
				Describes: []server.Describer{kinds, schemas, services}, Known: known.kinds,
			})
			if err != nil {
				return err
			}
			addresses.server = s
			c.Definitions = extensions
			c.Written = map[schema.GroupResource]func(context.Context, storage.Revision){
				extension.Definitions: extensions.Written, aggregate.Resource: services.Written,
				addressResource: func(ctx context.Context, _ storage.Revision) { addresses.run(ctx) },
			}
			c.Others = services
			c.Health = append(encryptionHooks(o.Encryption, keys), started.hooks(hooks{
				fairness: o.fairness(), leased: o.API.Enabled(serverLeaseGate), elects: hasElections(o.API), writes: writes, registered: services.Registered,
			})...)
			return nil
		},
	}
	if writes != nil {
		c.Precondition = writes.Check
	}
	if recorded != nil {
		c.TracerProvider = recorded
	}
	if keys != nil {
		encrypt(&c, keys)
	}
	s, err := server.New(c)
	if err != nil {
		return served{}, err
	}
	api := served{server: s, builtin: resources, extensions: extensions, services: services, discovery: kinds, addresses: addresses, barrier: writes, meter: meter, measured: parts, handshakeErrors: handshakeErrors, connections: conns}
	if o.servesFlows() {
		api.flows = flows.New(flows.Options{Server: s, Log: o.Log})
	}
	return api, nil
}

// servesFlows reports whether FlowSchemas and priority levels are served.
func (o Options) servesFlows() bool {
	return !slices.Contains(o.DisabledAPIs, flowcontrolv1.SchemeGroupVersion)
}

// fairness reports whether requests are told apart by FlowSchemas.
func (o Options) fairness() bool {
	return !o.Limits.NoFairness && o.servesFlows() && inflight.Seats(o.Limits.MaxReads, o.Limits.MaxWrites) > 0
}

// known is the part of a state that a server has read, for the servers of its forks.
type known struct {
	builtin   []*resource.Resource
	discovery *discovery.Handler
	roles     *rbac.Shared
	kinds     extension.Kinds
	services  aggregate.Known
	contents  *watchcache.Contents
}

// builtinResources returns the built-in resources that a server of the options serves.
func builtinResources(o Options) []*resource.Resource {
	rows := builtin.Of(o.API)
	if o.measures() {
		rows = append(rows, metrics.Resources()...)
	}
	if !o.fairness() {
		rows = flowcontrol.WithoutEffect(rows)
	}
	return policy.Checked(withoutVersions(rows, o.DisabledAPIs))
}

// frontProxy returns the front proxy's client certificate.
func (c credentials) frontProxy() (*tls.Certificate, error) {
	return clientCertificate(c.authority.FrontProxy().Client(bootstrap.FrontProxy))
}

// withoutVersions returns the resources without the versions.
func withoutVersions(all []*resource.Resource, disabled []schema.GroupVersion) (rest []*resource.Resource) {
	for _, row := range all {
		shorter := *row
		shorter.Restrict(func(v resource.Version) bool { return !slices.Contains(disabled, row.GVR(v.Name).GroupVersion()) })
		switch len(shorter.Versions) {
		case 0:
		case len(row.Versions):
			rest = append(rest, row)
		default:
			rest = append(rest, &shorter)
		}
	}
	return rest
}

// guard sets authentication, authorization and admission.
func guard(c *server.Config, s *server.Server, options Options, creds credentials, url string, page *ui.Page, roles *rbac.Shared) error {
	access := options.Access
	objects := s.Lookup()
	signer, err := creds.signer()
	if err != nil {
		return err
	}
	issuer := token.NewIssuer(access.Issuers, signer)
	accounts := token.NewAccounts(issuer, access.Audiences, token.LivingIn(objects))
	accounts.Generation = creds.authority.Generation
	accounts.MaxExpiration, accounts.NoExtension = access.MaxTokenExpiration, options.Tokens.NoExtension
	own, err := newOwnWrites(s)
	if err != nil {
		return err
	}
	uses := tokenUses{newTokenMetrics(), own, options.Log}
	accounts.Used, accounts.Aged = uses.stored, uses.aged
	if err := uses.register(c.Metrics); err != nil {
		return err
	}
	if creds.external != nil {
		longest := creds.external.MaxExpiration()
		accounts.MaxExpiration, accounts.MaxExtended = cmp.Or(access.MaxTokenExpiration, longest), longest
		for _, m := range creds.external.Collectors() {
			if err := c.Metrics.Register(m); err != nil {
				return err
			}
		}
	}
	verifier := token.Union{accounts}
	if creds.tokens != nil {
		verifier = token.Union{token.ForServer(access.Audiences, creds.tokens), accounts}
	}
	if !access.NoBootstrapTokens {
		verifier = append(verifier, token.ForServer(access.Audiences, token.Bootstrap(objects)))
	}
	if creds.issued != nil {
		verifier = append(verifier, token.ForServer(access.Audiences, loggedTokens{creds.issued, options.Log, "an issuer's token is invalid"}))
	}
	if creds.tokenWebhook != nil {
		verifier = append(verifier, loggedTokens{creds.tokenWebhook, options.Log, "the token webhook refused a token or failed"})
	}
	grants := rbac.New(rbac.Caches{
		Shared:              roles,
		Roles:               s.Cache(rbacv1.Resource("roles")),
		RoleBindings:        s.Cache(rbacv1.Resource("rolebindings")),
		ClusterRoles:        s.Cache(rbacv1.Resource("clusterroles")),
		ClusterRoleBindings: s.Cache(rbacv1.Resource("clusterrolebindings")),
	}.Source())
	proxies, err := creds.frontProxies(options)
	if err != nil {
		return err
	}
	c.Authenticator = auth.Union(
		proxies, // first: a CA may issue certificates of clients and of proxies, told apart by their names
		creds.clients(options),
		token.Authenticator(verifier),
		page,
	)
	if paths, allowed := creds.anonymous(access); allowed {
		c.Authenticator = auth.WithAnonymous(c.Authenticator, paths...)
	}
	c.Authenticator = cert.WithoutHeaders(c.Authenticator, cert.StandardHeaders(), access.FrontProxy.Headers)
	c.Authorizer = authorizer(s, creds.authorizers, grants)
	if err := c.Metrics.Register(creds.authorizers.Metrics()); err != nil {
		return err
	}
	rules := grants
	if !creds.authorizers.Has(chain.RBAC) {
		rules = nil
	}
	if c.Admission, err = options.plugins(c, s, own, c.Authorizer, rules); err != nil {
		return err
	}
	c.Reviews = reviews(review.Deps{Authorizer: c.Authorizer, Types: creds.authorizers.Types, ABAC: creds.authorizers.Rules, Policy: grants.Policy, Tokens: verifier})
	c.Subresources = map[server.Subresource]server.CreateFunc{
		{GroupResource: corev1.Resource("serviceaccounts"), Name: "token"}: tokens(accounts, objects),
	}
	keys := issuer.Handler(cmp.Or(options.Tokens.KeysURI, url+token.KeysPath))
	c.Paths = map[string]http.Handler{token.ConfigurationPath: keys, token.KeysPath: keys, why.Path: explained(s), lives.MapPath: mapped(s)}
	if options.Front == nil { // which does not serve the page
		c.Paths[ui.LinksPath] = page.Links()
	}
	return nil
}

// reviews are the kinds that are answered and not stored.
func reviews(d review.Deps) map[schema.GroupResource]server.CreateFunc {
	all := map[schema.GroupResource]server.CreateFunc{}
	for gr, f := range review.All(d) {
		all[gr] = func(ctx context.Context, r *server.CreateRequest) (runtime.Object, error) {
			return f(auth.WithWarn(ctx, r.Warn), r.User, r.Namespace, r.Object)
		}
	}
	return all
}

// tokens answers creates of serviceaccounts/token.
func tokens(accounts *token.Accounts, objects auth.Lookup) server.CreateFunc {
	return func(ctx context.Context, r *server.CreateRequest) (runtime.Object, error) {
		request, ok := r.Object.(*authenticationv1.TokenRequest)
		if !ok {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("not a TokenRequest: %T", r.Object))
		}
		out, credential, err := accounts.Request(ctx, objects, r.Namespace, r.Name, request, r.DryRun, r.Warn)
		if err != nil {
			return nil, err
		}
		if credential != "" {
			audit.Annotate(ctx, "authentication.kubernetes.io/issued-credential-id", credential)
		}
		return out, nil
	}
}

// startObjects are the first objects of the cluster.
func (cp *ControlPlane) startObjects() bootstrap.Options {
	o := cp.credentials.trusted(cp.options.Access.FrontProxy)
	o.ServiceCIDRs = cp.options.Access.ServiceCIDRs
	o.NodePort = cp.options.KubernetesNodePort
	o.Address, o.Port = cp.advertised.Addr(), int(cp.advertised.Port())
	o.Fairness = cp.options.fairness()
	o.Gate = cp.options.API.Enabled
	return o
}
