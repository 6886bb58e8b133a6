// Package chain asks authorizers in the order of an AuthorizationConfiguration, as kube-apiserver does for
// --authorization-config (KEP-3221) and for --authorization-mode.
//
// # Contract
//
//   - Members of system:masters may do everything. For all others, authorizers are asked until one allows or denies the
//     request. If none does, the reasons of all are told, each after the name of its authorizer.
//   - A Chain says which authorizers are asked, and has the webhooks and the policies of ABAC. The other authorizers depend on the server:
//     [Chain.Authorizer] takes them.
//   - After Reload of a changed file, the next request is decided by it. A file that cannot be used leaves the former one in
//     force. Webhooks may come and go; authorizers of other types must stay, and only webhooks and authorizers that
//     decide everything alike can come. The file of policies is read once.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package chain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authorization/cel"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/abac"
	"fairlead.dev/internal/server/auth/webhook"
)

// The types of authorizers.
const (
	ABAC        = "ABAC"
	AlwaysAllow = "AlwaysAllow"
	AlwaysDeny  = "AlwaysDeny"
	Node        = "Node"
	RBAC        = "RBAC"
	Webhook     = "Webhook"
)

// Chain is the list of authorizers that are asked.
type Chain struct {
	file   string // "" without a file
	server string
	// policyFile has the policies of the authorizer ABAC; they are nil if it is not asked.
	policyFile string
	policies   abac.Policies
	// compiler makes that of match conditions, which costs a tenth of a millisecond, when it is first needed.
	compiler func() cel.Compiler
	// required are the types that the file must keep.
	required  sets.Set[string]
	decisions *prometheus.CounterVec
	data      atomic.Pointer[string]
	links     atomic.Pointer[[]link]
}

// link is one authorizer of a chain.
type link struct {
	kind, name      string
	webhook         auth.Authorizer // of a webhook
	allowed, denied prometheus.Counter
}

func newChain() *Chain {
	return &Chain{compiler: sync.OnceValue(cel.NewDefaultCompiler), decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "apiserver_authorization_decisions_total", Help: "Requests that an authorizer allowed or denied, by its type, its name and the decision.",
	}, []string{"type", "name", "decision"})}
}

// use makes the configuration that of the chain.
func (c *Chain) use(config *apiserver.AuthorizationConfiguration) error {
	links := make([]link, len(config.Authorizers))
	for i, a := range config.Authorizers {
		links[i] = link{
			kind:    string(a.Type),
			name:    a.Name,
			allowed: c.decisions.WithLabelValues(string(a.Type), a.Name, "allowed"), // as the fields of a SubjectAccessReview's status
			denied:  c.decisions.WithLabelValues(string(a.Type), a.Name, "denied"),
		}
		switch {
		case a.Type == Webhook:
			var err error
			if links[i].webhook, err = webhook.New(a, c.compiler()); err != nil {
				return fmt.Errorf("authorizer %s: %w", a.Name, err)
			}
		case a.Type == ABAC && c.required == nil:
			var err error
			if c.policies, err = abac.FromFile(c.policyFile); err != nil {
				return err
			}
		case (a.Type == ABAC || a.Type == Node || a.Type == RBAC) && c.required != nil && !c.required.Has(string(a.Type)):
			return fmt.Errorf("authorizer type %s is not allowed if it was not enabled at initial server startup", a.Type)
		}
	}
	if c.required == nil {
		c.required = sets.New[string]()
		for _, a := range config.Authorizers {
			c.required.Insert(string(a.Type))
		}
		c.required.Delete(Webhook)
	}
	c.links.Store(&links)
	return nil
}

// Has reports whether authorizers of the type, which is not that of webhooks, are asked.
func (c *Chain) Has(kind string) bool { return c.required.Has(kind) }

// Types returns the types of the authorizers that are asked, in order.
func (c *Chain) Types() (types []string) {
	for _, l := range *c.links.Load() {
		types = append(types, l.kind)
	}
	return types
}

// Rules returns the rules of a user in a namespace by which the authorizer ABAC allows requests.
func (c *Chain) Rules(u *auth.User, namespace string) []rbacv1.PolicyRule {
	return c.policies.RulesFor(u, namespace)
}

// Metrics returns the collector of apiserver_authorization_decisions_total.
func (c *Chain) Metrics() prometheus.Collector { return c.decisions }

// Authorizer returns the Authorizer that asks the chain. own has the server's authorizers of the types Node and RBAC, as far
// as the chain has these types.
func (c *Chain) Authorizer(own map[string]auth.Authorizer) auth.Authorizer {
	all := map[string]auth.Authorizer{ABAC: c.policies, AlwaysAllow: auth.AllowAll, AlwaysDeny: auth.AuthorizerFunc(denyAll)}
	for kind, a := range own {
		all[kind] = a
	}
	return auth.Privileged(auth.AuthorizerFunc(func(ctx context.Context, at auth.Attributes) (auth.Decision, string, error) {
		var reasons []string
		var errs []error
		for _, l := range *c.links.Load() {
			a := l.webhook
			if a == nil {
				a = all[l.kind]
			}
			d, reason, err := a.Authorize(ctx, at)
			switch d {
			case auth.Allow:
				l.allowed.Inc()
				return d, reason, err
			case auth.Deny:
				l.denied.Inc()
				return d, reason, err
			}
			if reason != "" {
				reasons = append(reasons, l.name+": "+reason)
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
		return auth.NoOpinion, strings.Join(reasons, "\n"), utilerrors.NewAggregate(errs)
	}))
}

func denyAll(context.Context, auth.Attributes) (auth.Decision, string, error) {
	return auth.NoOpinion, "Everything is forbidden.", nil
}
