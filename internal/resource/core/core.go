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
			WithShortNames("cm").
			WithTable(configMapTable).WithStrategy(configMapStrategy),
		endpoints(),
		Event(),
		resource.NamespaceScoped[corev1.LimitRange, corev1.LimitRangeList](gv, "limitranges").
			WithShortNames("limits").
			WithTable(limitRangeTable).WithStrategy(limitRangeStrategy),
		namespace(),
		resource.ClusterScoped[corev1.Node, corev1.NodeList](gv, "nodes").
			WithShortNames("no").WithStoragePrefix("/registry/minions").WithStatus().
			WithConnect("proxy", "NodeProxyOptions", resource.ProxyVerbs).
			WithSelectableFields(resource.FieldAt("spec.unschedulable", "false")).
			WithTable(nodeTable).WithStrategy(nodeStrategy()),
		resource.NamespaceScoped[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](gv, "persistentvolumeclaims").
			WithShortNames("pvc").WithStatus().
			WithTable(claimTable).WithStrategy(claimStrategy()),
		resource.ClusterScoped[corev1.PersistentVolume, corev1.PersistentVolumeList](gv, "persistentvolumes").
			WithShortNames("pv").WithStatus().
			WithTable(volumeTable).WithStrategy(volumeStrategy()),
		pod(),
		resource.NamespaceScoped[corev1.PodTemplate, corev1.PodTemplateList](gv, "podtemplates").
			WithTable(podTemplateTable).WithStrategy(podTemplateStrategy()),
		resource.NamespaceScoped[corev1.ReplicationController, corev1.ReplicationControllerList](gv, "replicationcontrollers").
			WithShortNames("rc").WithCategories("all").WithStoragePrefix("/registry/controllers").WithScale().WithStatus().
			WithSelectableFields(resource.FieldAt("status.replicas", "0")).
			WithTable(replicationControllerTable).WithStrategy(replicationControllerStrategy()),
		resource.NamespaceScoped[corev1.ResourceQuota, corev1.ResourceQuotaList](gv, "resourcequotas").
			WithShortNames("quota").WithStatus().
			WithTable(quotaTable).WithStrategy(quotaStrategy()),
		resource.NamespaceScoped[corev1.Secret, corev1.SecretList](gv, "secrets").
			WithSelectableFields(resource.FieldAt("type", "")).
			WithTable(secretTable).WithStrategy(secretStrategy),
		resource.NamespaceScoped[corev1.ServiceAccount, corev1.ServiceAccountList](gv, "serviceaccounts").
			WithShortNames("sa").WithNameRule(apivalidation.ValidateServiceAccountName).
			WithSubresourceOfKind(resource.Subresource{
				Name: "token", Kind: "TokenRequest", Group: "authentication.k8s.io", Version: "v1", Verbs: resource.CreateVerb,
			}).
			WithTable(serviceAccountTable).WithStrategy(serviceAccountStrategy),
		resource.NamespaceScoped[corev1.Service, corev1.ServiceList](gv, "services").
			WithShortNames("svc").WithCategories("all").WithStoragePrefix("/registry/services/specs").WithNameRule(apivalidation.NameIsDNSLabel).WithStatus().
			WithConnect("proxy", "ServiceProxyOptions", resource.ProxyVerbs).
			WithSelectableFields(resource.FieldAt("spec.clusterIP", ""), resource.FieldAt("spec.type", "")).
			WithTable(serviceTable).WithStrategy(serviceStrategy()),
	}
}

func binding() *resource.Resource {
	r := resource.NewReview[corev1.Binding](corev1.SchemeGroupVersion, "bindings")
	r.Namespaced = true
	return r
}

func componentStatus() *resource.Resource {
	r := resource.ClusterScoped[corev1.ComponentStatus, corev1.ComponentStatusList](corev1.SchemeGroupVersion, "componentstatuses").
		WithShortNames("cs").WithStoragePrefix("").WithTable(componentStatusTable)
	r.Virtual, r.Verbs = true, []string{"get", "list"}
	r.Versions[0].Warning = "v1 ComponentStatus is deprecated in v1.19+"
	return r
}
