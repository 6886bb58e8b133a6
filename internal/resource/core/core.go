//lint:file-ignore SA1019 Endpoints are deprecated, and served

// Package core describes the kinds of the core group: pods, services, nodes, namespaces and others.
package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"fairlead.dev/internal/resource"
)

// Resources returns the group's part of the table.
func Resources() []*resource.Resource {
	gv := corev1.SchemeGroupVersion
	return []*resource.Resource{
		binding(),
		componentStatus(),
		resource.NamespaceScoped[corev1.ConfigMap, corev1.ConfigMapList](gv, "configmaps").
			Short("cm").
			Shown(configMapTable).Ruled(configMapStrategy),
		endpoints(),
		Event(),
		resource.NamespaceScoped[corev1.LimitRange, corev1.LimitRangeList](gv, "limitranges").
			Short("limits").
			Shown(limitRangeTable).Ruled(limitRangeStrategy),
		namespace(),
		resource.ClusterScoped[corev1.Node, corev1.NodeList](gv, "nodes").
			Short("no").At("/registry/minions").WithStatus().
			Leads("proxy", "NodeProxyOptions", resource.ProxyVerbs).
			Select(resource.FieldAt("spec.unschedulable", "false")).
			Shown(nodeTable).Ruled(nodeStrategy()),
		resource.NamespaceScoped[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](gv, "persistentvolumeclaims").
			Short("pvc").WithStatus().
			Shown(claimTable).Ruled(claimStrategy()),
		resource.ClusterScoped[corev1.PersistentVolume, corev1.PersistentVolumeList](gv, "persistentvolumes").
			Short("pv").WithStatus().
			Shown(volumeTable).Ruled(volumeStrategy()),
		pod(),
		resource.NamespaceScoped[corev1.PodTemplate, corev1.PodTemplateList](gv, "podtemplates").
			Shown(podTemplateTable).Ruled(podTemplateStrategy()),
		resource.NamespaceScoped[corev1.ReplicationController, corev1.ReplicationControllerList](gv, "replicationcontrollers").
			Short("rc").In("all").At("/registry/controllers").WithScale().WithStatus().
			Select(resource.FieldAt("status.replicas", "0")).
			Shown(replicationControllerTable).Ruled(replicationControllerStrategy()),
		resource.NamespaceScoped[corev1.ResourceQuota, corev1.ResourceQuotaList](gv, "resourcequotas").
			Short("quota").WithStatus().
			Shown(quotaTable).Ruled(quotaStrategy()),
		resource.NamespaceScoped[corev1.Secret, corev1.SecretList](gv, "secrets").
			Select(resource.FieldAt("type", "")).
			Shown(secretTable).Ruled(secretStrategy),
		resource.NamespaceScoped[corev1.ServiceAccount, corev1.ServiceAccountList](gv, "serviceaccounts").
			Short("sa").Named(apivalidation.ValidateServiceAccountName).
			WithOther(resource.Subresource{
				Name: "token", Kind: "TokenRequest", Group: "authentication.k8s.io", Version: "v1", Verbs: resource.CreateVerb,
			}).
			Shown(serviceAccountTable).Ruled(serviceAccountStrategy),
		resource.NamespaceScoped[corev1.Service, corev1.ServiceList](gv, "services").
			Short("svc").In("all").At("/registry/services/specs").Named(apivalidation.NameIsDNSLabel).WithStatus().
			Leads("proxy", "ServiceProxyOptions", resource.ProxyVerbs).
			Select(resource.FieldAt("spec.clusterIP", ""), resource.FieldAt("spec.type", "")).
			Shown(serviceTable).Ruled(serviceStrategy()),
	}
}

func binding() *resource.Resource {
	r := resource.Review[corev1.Binding](corev1.SchemeGroupVersion, "bindings")
	r.Namespaced = true
	return r
}

func componentStatus() *resource.Resource {
	r := resource.ClusterScoped[corev1.ComponentStatus, corev1.ComponentStatusList](corev1.SchemeGroupVersion, "componentstatuses").
		Short("cs").At("").Shown(componentStatusTable)
	r.Virtual, r.Verbs = true, []string{"get", "list"}
	r.Versions[0].Warning = "v1 ComponentStatus is deprecated in v1.19+"
	return r
}
