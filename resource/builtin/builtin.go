// Package builtin puts the groups' parts together into the one table.
package builtin

import (
	"slices"

	"fairlead.dev/resource"
	"fairlead.dev/resource/admissionregistration"
	"fairlead.dev/resource/apiextensions"
	"fairlead.dev/resource/apiregistration"
	"fairlead.dev/resource/apps"
	"fairlead.dev/resource/authentication"
	"fairlead.dev/resource/authorization"
	"fairlead.dev/resource/autoscaling"
	"fairlead.dev/resource/batch"
	"fairlead.dev/resource/certificates"
	"fairlead.dev/resource/coordination"
	"fairlead.dev/resource/core"
	"fairlead.dev/resource/discovery"
	"fairlead.dev/resource/dynamicresources"
	"fairlead.dev/resource/events"
	"fairlead.dev/resource/flowcontrol"
	"fairlead.dev/resource/networking"
	"fairlead.dev/resource/node"
	"fairlead.dev/resource/podspec"
	"fairlead.dev/resource/policy"
	"fairlead.dev/resource/rbac"
	"fairlead.dev/resource/scheduling"
	"fairlead.dev/resource/storage"
	"fairlead.dev/resource/storagemigration"
)

// Resources is every built-in kind, group by group in the order in which
// kube-apiserver's discovery lists them. Each call builds new rows.
func Resources() []*resource.Resource {
	rows := slices.Concat(
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
	)
	for _, r := range rows {
		if len(r.Versions) > 0 && hasPods(r) {
			r.Strategy.Drop = podspec.DropUnserved
		}
	}
	return rows
}

// hasPods reports whether the kind is Pod, or one of which pods are made.
func hasPods(r *resource.Resource) bool {
	switch r.Group {
	case "":
		return r.Plural == "pods" || r.Plural == "podtemplates" || r.Plural == "replicationcontrollers"
	case "apps":
		return r.Plural != "controllerrevisions"
	}
	return r.Group == "batch"
}
