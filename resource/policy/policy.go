// Package policy describes pod disruption budgets.
package policy

import (
	policyv1 "k8s.io/api/policy/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.InNamespace[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](policyv1.SchemeGroupVersion, "poddisruptionbudgets").
			Short("pdb").WithStatus(),
	}
}
