package admission

import (
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
)

// Options configure the default chain.
type Options struct {
	Lookup     Lookup
	Authorizer auth.Authorizer
	// RBAC is nil if authorization does not use roles and bindings; they are then not checked for escalation.
	RBAC     *rbac.Authorizer
	Services ServiceOptions
	// Dynamic are the plugins configured by API objects: pod security, policies, then webhooks.
	Dynamic []Plugin
	// Quotas writes the usage of quotas; nil disables quotas.
	Quotas QuotaWriter
}

// Default returns the chain of a server, in kube-apiserver's order.
func Default(o Options) Chain {
	c := Chain{
		NamespaceLifecycle{o.Lookup},
		LimitRanger{o.Lookup},
		ServiceAccount{o.Lookup},
		NodeRestriction{o.Lookup, o.Authorizer},
		TaintNodesByCondition{},
		Priority{o.Lookup},
		DefaultTolerationSeconds{},
		PodTopologyLabels{o.Lookup},
		DefaultStorageClass{o.Lookup},
		StorageObjectInUseProtection{},
		ClaimResize{o.Lookup},
		RuntimeClass{o.Lookup},
		Certificates{o.Authorizer},
		DefaultIngressClass{o.Lookup},
		PodResize{o.Lookup},
		DeviceAdminAccess{o.Lookup},
		NewServiceAllocation(o.Lookup, o.Services),
	}
	if o.RBAC != nil {
		c = append(c, RBACEscalation{o.Authorizer, o.RBAC.Policy})
	}
	c = append(c, o.Dynamic...)
	return append(c, NewResourceQuota(o.Lookup, o.Quotas))
}
