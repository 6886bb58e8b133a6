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
			Shown(revisionTable).Ruled(revisionStrategy),
		resource.NamespaceScoped[appsv1.DaemonSet, appsv1.DaemonSetList](gv, "daemonsets").
			Short("ds").In("all").WithStatus().
			Shown(daemonSetTable).Ruled(daemonSetStrategy()),
		resource.NamespaceScoped[appsv1.Deployment, appsv1.DeploymentList](gv, "deployments").
			Short("deploy").In("all").WithScale().WithStatus().
			Shown(deploymentTable).Ruled(deploymentStrategy()),
		resource.NamespaceScoped[appsv1.ReplicaSet, appsv1.ReplicaSetList](gv, "replicasets").
			Short("rs").In("all").WithScale().WithStatus().
			Shown(replicaSetTable).Ruled(replicaSetStrategy()),
		resource.NamespaceScoped[appsv1.StatefulSet, appsv1.StatefulSetList](gv, "statefulsets").
			Short("sts").In("all").Named(apivalidation.NameIsDNSLabel).WithScale().WithStatus().
			Shown(statefulSetTable).Ruled(statefulSetStrategy()),
	}
}
