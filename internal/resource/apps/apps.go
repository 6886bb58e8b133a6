// Package apps describes the kinds of group apps, the workload kinds.
package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := appsv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.NamespaceScoped[appsv1.ControllerRevision, appsv1.ControllerRevisionList](gv, "controllerrevisions").
			WithTable(revisionTable).WithStrategy(revisionStrategy),
		resource.NamespaceScoped[appsv1.DaemonSet, appsv1.DaemonSetList](gv, "daemonsets").
			WithShortNames("ds").WithCategories("all").WithStatus().
			WithTable(daemonSetTable).WithStrategy(daemonSetStrategy()),
		resource.NamespaceScoped[appsv1.Deployment, appsv1.DeploymentList](gv, "deployments").
			WithShortNames("deploy").WithCategories("all").WithScale().WithStatus().
			WithTable(deploymentTable).WithStrategy(deploymentStrategy()),
		resource.NamespaceScoped[appsv1.ReplicaSet, appsv1.ReplicaSetList](gv, "replicasets").
			WithShortNames("rs").WithCategories("all").WithScale().WithStatus().
			WithTable(replicaSetTable).WithStrategy(replicaSetStrategy()),
		resource.NamespaceScoped[appsv1.StatefulSet, appsv1.StatefulSetList](gv, "statefulsets").
			WithShortNames("sts").WithCategories("all").WithNameRule(apivalidation.NameIsDNSLabel).WithScale().WithStatus().
			WithTable(statefulSetTable).WithStrategy(statefulSetStrategy()),
	}
}
