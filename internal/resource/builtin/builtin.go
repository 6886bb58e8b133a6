// Package builtin puts the groups' parts together into the one table.
package builtin

import (
	"slices"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/admissionregistration"
	"fairlead.dev/internal/resource/apiextensions"
	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/resource/apiserverinternal"
	"fairlead.dev/internal/resource/apps"
	"fairlead.dev/internal/resource/authentication"
	"fairlead.dev/internal/resource/authorization"
	"fairlead.dev/internal/resource/autoscaling"
	"fairlead.dev/internal/resource/batch"
	"fairlead.dev/internal/resource/certificates"
	"fairlead.dev/internal/resource/coordination"
	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/discovery"
	"fairlead.dev/internal/resource/dynamicresources"
	"fairlead.dev/internal/resource/events"
	"fairlead.dev/internal/resource/flowcontrol"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/internal/resource/networking"
	"fairlead.dev/internal/resource/node"
	"fairlead.dev/internal/resource/policy"
	"fairlead.dev/internal/resource/rbac"
	"fairlead.dev/internal/resource/scheduling"
	"fairlead.dev/internal/resource/storage"
	"fairlead.dev/internal/resource/storagemigration"
)

// Resources is every built-in kind of the newest version of Kubernetes, group by group in the order in which
// kube-apiserver's discovery lists them. Each call builds new rows.
func Resources() []*resource.Resource { return Of(gates.API{}) }

// Of is every built-in kind of an API, as Resources.
func Of(api gates.API) []*resource.Resource { return api.Apply(All()) }

// All is every built-in kind in all versions that an API may have.
func All() []*resource.Resource {
	return slices.Concat(
		core.Resources(),
		apiregistration.Resources(),
		apps.Resources(),
		events.Resources(),
		authentication.Resources(),
		authorization.Resources(),
		autoscaling.Resources(),
		batch.Resources(),
		certificates.Resources(),
		networking.Resources(),
		policy.Resources(),
		rbac.Resources(),
		storage.Resources(),
		admissionregistration.Resources(),
		apiextensions.Resources(),
		scheduling.Resources(),
		coordination.Resources(),
		node.Resources(),
		discovery.Resources(),
		dynamicresources.Resources(),
		flowcontrol.Resources(),
		storagemigration.Resources(),
		apiserverinternal.Resources(),
	)
}
