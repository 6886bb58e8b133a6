package admission

import (
	"slices"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/admission/config"
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

	// Enabled are the names of those in Optional to ask. Namespaces creates namespaces for NamespaceAutoProvision, Rows
	// are the resources that the server serves, for OwnerReferencesPermissionEnforcement.
	Enabled    []string
	Namespaces NamespaceCreator
	Rows       func() []*resource.Resource
	Config     config.Config
	// GroupPolicy: see Priority.
	GroupPolicy bool
	// Tolerations are added to pods.
	Tolerations DefaultTolerationSeconds
}

// Optional are the names of the plugins that are asked only if Options.Enabled has them. ImagePolicyWebhook is one of
// Options.Dynamic, and AlwaysAdmit is no plugin, because it has no effect.
var Optional = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit", "ExtendedResourceToleration",
	"ImagePolicyWebhook", "LimitPodHardAntiAffinityTopology", "NamespaceAutoProvision", "NamespaceExists",
	"OwnerReferencesPermissionEnforcement", "PodNodeSelector", "PodTolerationRestriction",
}

// Default returns the chain of a server, in kube-apiserver's order.
func Default(o Options) Chain {
	c := Chain{
		NamespaceAutoProvision{o.Lookup, o.Namespaces},
		NamespaceLifecycle{o.Lookup},
		NamespaceExists{o.Lookup},
		LimitPodHardAntiAffinityTopology{},
		LimitRanger{o.Lookup},
		ServiceAccount{o.Lookup},
		NodeRestriction{o.Lookup, o.Authorizer},
		TaintNodesByCondition{},
		AlwaysPullImages{},
		PodNodeSelector{o.Lookup, o.Config.NodeSelectors},
		Priority{o.Lookup, o.GroupPolicy},
		o.Tolerations,
		PodTolerationRestriction{o.Lookup, o.Config.Tolerations},
		NewEventRateLimit(o.Config.EventLimits),
		ExtendedResourceToleration{},
		PodTopologyLabels{o.Lookup},
		PodGroupProtection{},
		DefaultStorageClass{o.Lookup},
		StorageObjectInUseProtection{},
		OwnerReferencesPermissionEnforcement{o.Authorizer, o.Rows},
		ClaimResize{o.Lookup},
		RuntimeClass{o.Lookup},
		Certificates{o.Authorizer},
		DefaultIngressClass{o.Lookup},
		DenyServiceExternalIPs{},
		DeclaredFeatures{o.Lookup},
		PodResize{o.Lookup},
		DeviceAdminAccess{o.Lookup},
		ClaimStatus{o.Authorizer},
		NewServiceAllocation(o.Lookup, o.Services),
	}
	if o.RBAC != nil {
		c = append(c, RBACEscalation{o.Authorizer, o.RBAC.Policy})
	}
	c = append(c, o.Dynamic...)
	c = append(c, NewResourceQuota(o.Lookup, o.Quotas, o.Config.LimitedResources), AlwaysDeny{})
	return slices.DeleteFunc(c, func(p Plugin) bool {
		return slices.Contains(Optional, p.Name()) && !slices.Contains(o.Enabled, p.Name())
	})
}
