package apiregistration

import "k8s.io/apimachinery/pkg/runtime/schema"

// Priority orders the versions of groups in discovery: higher ones come first. Group orders groups, Version the
// versions of one group.
type Priority struct{ Group, Version int32 }

// Custom is the priority of versions from definitions.
var Custom = Priority{Group: 1000, Version: 100}

// first is the priority of this group, which precedes all that can be registered.
var first = Priority{Group: maxGroupPriority + 1}

// builtin are the places of built-in groups, the ones that they have in Kubernetes.
var builtin = map[schema.GroupVersion]Priority{
	{Group: "apiregistration.k8s.io", Version: "v1"}:             first,
	{Group: "", Version: "v1"}:                                   {18000, 1},
	{Group: "apps", Version: "v1"}:                               {17800, 15},
	{Group: "events.k8s.io", Version: "v1"}:                      {17750, 15},
	{Group: "authentication.k8s.io", Version: "v1"}:              {17700, 15},
	{Group: "authorization.k8s.io", Version: "v1"}:               {17600, 15},
	{Group: "autoscaling", Version: "v1"}:                        {17500, 15},
	{Group: "autoscaling", Version: "v2"}:                        {17500, 30},
	{Group: "batch", Version: "v1"}:                              {17400, 15},
	{Group: "certificates.k8s.io", Version: "v1"}:                {17300, 15},
	{Group: "certificates.k8s.io", Version: "v1beta1"}:           {17300, 9},
	{Group: "networking.k8s.io", Version: "v1"}:                  {17200, 15},
	{Group: "policy", Version: "v1"}:                             {17100, 15},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}:          {17000, 15},
	{Group: "storage.k8s.io", Version: "v1"}:                     {16800, 15},
	{Group: "admissionregistration.k8s.io", Version: "v1"}:       {16700, 15},
	{Group: "apiextensions.k8s.io", Version: "v1"}:               {16700, 15},
	{Group: "scheduling.k8s.io", Version: "v1"}:                  {16600, 15},
	{Group: "coordination.k8s.io", Version: "v1"}:                {16500, 15},
	{Group: "node.k8s.io", Version: "v1"}:                        {16300, 15},
	{Group: "discovery.k8s.io", Version: "v1"}:                   {16200, 15},
	{Group: "resource.k8s.io", Version: "v1"}:                    {16200, 21},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}:       {16100, 21},
	{Group: "storagemigration.k8s.io", Version: "v1"}:            {15800, 15},
	{Group: "certificates.k8s.io", Version: "v1alpha1"}:          {17300, 1},
	{Group: "networking.k8s.io", Version: "v1beta1"}:             {17200, 9},
	{Group: "storage.k8s.io", Version: "v1beta1"}:                {16800, 9},
	{Group: "admissionregistration.k8s.io", Version: "v1beta1"}:  {16700, 12},
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}: {16700, 9},
	{Group: "coordination.k8s.io", Version: "v1beta1"}:           {16500, 13},
	{Group: "coordination.k8s.io", Version: "v1alpha2"}:          {16500, 12},
	{Group: "resource.k8s.io", Version: "v1beta2"}:               {16200, 15},
	{Group: "resource.k8s.io", Version: "v1beta1"}:               {16200, 9},
	{Group: "resource.k8s.io", Version: "v1alpha3"}:              {16200, 1},
	{Group: "internal.apiserver.k8s.io", Version: "v1alpha1"}:    {16000, 9},
	{Group: "storagemigration.k8s.io", Version: "v1beta1"}:       {15800, 9},
	// Elsewhere another server serves this one, registered so.
	{Group: "metrics.k8s.io", Version: "v1beta1"}: {100, 100},
}

// PriorityOf is the priority of a version that this server serves itself.
func PriorityOf(gv schema.GroupVersion) Priority {
	if p, ok := builtin[gv]; ok {
		return p
	}
	return Custom
}
