// Package core describes the kinds of the group without a name: pods, services,
// nodes, namespaces and what else the cluster is made of.
package core

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := corev1.SchemeGroupVersion
	return []*resource.Resource{
		binding(),
		componentStatus(),
		resource.InNamespace[corev1.ConfigMap, corev1.ConfigMapList](gv, "configmaps").
			Short("cm"),
		resource.InNamespace[corev1.Endpoints, corev1.EndpointsList](gv, "endpoints").
			Short("ep").At("/registry/services/endpoints"),
		Event(),
		resource.InNamespace[corev1.LimitRange, corev1.LimitRangeList](gv, "limitranges").
			Short("limits"),
		namespace(),
		resource.InCluster[corev1.Node, corev1.NodeList](gv, "nodes").
			Short("no").At("/registry/minions").WithStatus().
			Select(resource.FieldAt("spec.unschedulable", "false")),
		resource.InNamespace[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](gv, "persistentvolumeclaims").
			Short("pvc").WithStatus(),
		resource.InCluster[corev1.PersistentVolume, corev1.PersistentVolumeList](gv, "persistentvolumes").
			Short("pv").WithStatus(),
		pod(),
		resource.InNamespace[corev1.PodTemplate, corev1.PodTemplateList](gv, "podtemplates"),
		resource.InNamespace[corev1.ReplicationController, corev1.ReplicationControllerList](gv, "replicationcontrollers").
			Short("rc").In("all").At("/registry/controllers").WithScale().WithStatus().
			Select(resource.FieldAt("status.replicas", "0")),
		resource.InNamespace[corev1.ResourceQuota, corev1.ResourceQuotaList](gv, "resourcequotas").
			Short("quota").WithStatus(),
		resource.InNamespace[corev1.Secret, corev1.SecretList](gv, "secrets").
			Select(resource.FieldAt("type", "")),
		resource.InNamespace[corev1.ServiceAccount, corev1.ServiceAccountList](gv, "serviceaccounts").
			Short("sa").WithOther(resource.Subresource{
			Name: "token", Kind: "TokenRequest", Group: "authentication.k8s.io", Version: "v1", Verbs: resource.CreateVerb,
		}),
		resource.InNamespace[corev1.Service, corev1.ServiceList](gv, "services").
			Short("svc").In("all").At("/registry/services/specs").WithStatus().
			Select(resource.FieldAt("spec.clusterIP", ""), resource.FieldAt("spec.type", "")),
	}
}

// Event is the row of events. The group events.k8s.io shows the same objects.
func Event() *resource.Resource {
	return resource.InNamespace[corev1.Event, corev1.EventList](corev1.SchemeGroupVersion, "events").
		Short("ev").
		Select(
			resource.FieldAt("involvedObject.kind", ""),
			resource.FieldAt("involvedObject.namespace", ""),
			resource.FieldAt("involvedObject.name", ""),
			resource.FieldAt("involvedObject.uid", ""),
			resource.FieldAt("involvedObject.apiVersion", ""),
			resource.FieldAt("involvedObject.resourceVersion", ""),
			resource.FieldAt("involvedObject.fieldPath", ""),
			resource.FieldAt("reason", ""),
			resource.FieldAt("reportingComponent", ""),
			resource.Field{Label: "source", Paths: [][]string{{"source", "component"}, {"reportingComponent"}}},
			resource.FieldAt("type", ""),
		)
}

func namespace() *resource.Resource {
	r := resource.InCluster[corev1.Namespace, corev1.NamespaceList](corev1.SchemeGroupVersion, "namespaces").
		Short("ns").
		WithOther(resource.Subresource{Name: "finalize", Kind: "Namespace", Verbs: []string{"update"}}).
		WithStatus().
		Select(resource.FieldAt("status.phase", ""))
	r.Verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return r
}

func binding() *resource.Resource {
	r := resource.Review[corev1.Binding](corev1.SchemeGroupVersion, "bindings")
	r.Namespaced = true
	return r
}

func componentStatus() *resource.Resource {
	r := resource.InCluster[corev1.ComponentStatus, corev1.ComponentStatusList](corev1.SchemeGroupVersion, "componentstatuses").
		Short("cs").At("")
	r.Virtual, r.Verbs = true, []string{"get", "list"}
	return r
}
