package controlplane

import (
	"context"
	"slices"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/admission/config"
	"fairlead.dev/internal/server/admission/imagepolicy"
	"fairlead.dev/internal/server/admission/podsecurity"
	"fairlead.dev/internal/server/admission/policy"
	"fairlead.dev/internal/server/admission/webhook"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
)

// Admission configures the admission plugins. The zero value is those of a cluster made by kubeadm: the default ones of
// kube-apiserver and NodeRestriction, without a configuration.
type Admission struct {
	// Disabled are the names of plugins that are not asked, and Enabled those of plugins that are asked besides.
	Disabled, Enabled []string
	// NoPrivileged makes privileged containers invalid.
	NoPrivileged bool
	// Config is the configuration of the plugins.
	Config config.Config
	// Tolerations are the tolerations that pods get for nodes which are not ready or not reachable.
	Tolerations admission.DefaultTolerationSeconds
}

// plugins returns the admission plugins of a server. It registers their metrics. grants is nil without the authorizer RBAC.
func (o Options) plugins(c *server.Config, s *server.Server, own ownWrites, authorizer auth.Authorizer, grants *rbac.Authorizer) (admission.Chain, error) {
	of := o.Admission
	ao := admission.Options{
		Lookup:      s.Lookup(),
		Authorizer:  authorizer,
		Services:    admission.ServiceOptions{Families: o.Access.families(), NodePorts: o.NodePorts},
		Quotas:      own,
		Namespaces:  own,
		Rows:        s.Resources,
		Enabled:     of.Enabled,
		Config:      of.Config,
		GroupPolicy: o.API.Enabled("PodGroupPreemptionPolicy"),
		Tolerations: of.Tolerations,
	}
	if len(o.Etcd.Servers) > 0 { // other servers may allocate node ports there
		ao.Services.Reserved = func(ctx context.Context, key string) (storage.Revision, error) {
			return s.KeyRevision(ctx, corev1.Resource("services"), key)
		}
	}
	var err error
	if ao.Dynamic, err = of.dynamic(c, s, authorizer); err != nil {
		return nil, err
	}
	if grants != nil {
		ao.RBAC = grants
	}
	chain := slices.DeleteFunc(admission.Default(ao), func(p admission.Plugin) bool {
		return slices.Contains(of.Disabled, p.Name()) || !o.API.HasPlugin(p.Name())
	})
	if o.Host != nil {
		chain = append(chain, o.Host.Admission())
	}
	return chain, nil
}

// dynamic returns the plugins that ask others, or are configured by API objects.
func (of Admission) dynamic(c *server.Config, s *server.Server, authorizer auth.Authorizer) ([]admission.Plugin, error) {
	var all []admission.Plugin
	if p := of.Config.ImagePolicy; p != nil {
		asks, err := imagepolicy.New(*p, s.Network().Dial)
		if err != nil {
			return nil, err
		}
		all = append(all, asks)
	}
	standards, err := podsecurity.New(s.Lookup(), of.Config.PodSecurity)
	if err != nil {
		return nil, err
	}
	checked, asked := policy.NewMetrics(), webhook.NewMetrics()
	for _, m := range []prometheus.Collector{checked, asked} {
		if err := c.Metrics.Register(m); err != nil {
			return nil, err
		}
	}
	cache := func(plural string) *watchcache.Cache { return s.Cache(admissionregistrationv1.Resource(plural)) }
	changes, checks := policy.New(policy.Options{
		Metrics:    checked,
		Mutating:   policy.Caches{Policies: cache("mutatingadmissionpolicies"), Bindings: cache("mutatingadmissionpolicybindings")},
		Validating: policy.Caches{Policies: cache("validatingadmissionpolicies"), Bindings: cache("validatingadmissionpolicybindings")},
		Lookup:     s.Lookup(), Authorizer: authorizer, Rows: s.Resources,
	})
	mutating, validating, err := webhook.New(webhook.Options{
		Metrics:    asked,
		Mutating:   cache("mutatingwebhookconfigurations"),
		Validating: cache("validatingwebhookconfigurations"),
		Lookup:     s.Lookup(), Network: s.Network(), Authorizer: authorizer, Rows: s.Resources,
		MutatingCredentials: of.Config.MutatingWebhooks, ValidatingCredentials: of.Config.ValidatingWebhooks,
	})
	if err != nil {
		return nil, err
	}
	all = append(all, standards, changes, mutating, checks, validating)
	if of.NoPrivileged {
		all = append(all, podsecurity.NoPrivileged{})
	}
	return all, nil
}
