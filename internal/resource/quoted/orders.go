package quoted

import (
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

var podSpec = reflect.TypeFor[corev1.PodSpec]()

// orders lists the types whose fields are quoted in another order, with the first fields up to where the order is
// the same again.
var orders = map[reflect.Type][]string{
	podSpec: words(`Volumes InitContainers Containers EphemeralContainers RestartPolicy
		TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName
		AutomountServiceAccountToken NodeName SecurityContext ImagePullSecrets Hostname Subdomain
		SetHostnameAsFQDN Affinity SchedulerName Tolerations HostAliases PriorityClassName Priority
		PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks`),
	reflect.TypeFor[corev1.PodSecurityContext](): words(`SELinuxOptions WindowsOptions RunAsUser RunAsGroup
		RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup FSGroupChangePolicy Sysctls`),
	reflect.TypeFor[corev1.ServiceSpec](): words(`Type Ports Selector ClusterIP ClusterIPs IPFamilies
		IPFamilyPolicy ExternalName ExternalIPs LoadBalancerIP SessionAffinity SessionAffinityConfig`),
	reflect.TypeFor[corev1.VolumeSource](): words(`HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore
		GitRepo Secret NFS ISCSI Glusterfs PersistentVolumeClaim RBD Quobyte FlexVolume`),
	reflect.TypeFor[corev1.PersistentVolumeSource](): words(`GCEPersistentDisk AWSElasticBlockStore HostPath
		Glusterfs NFS RBD Quobyte ISCSI FlexVolume`),
	reflect.TypeFor[batchv1.JobSpec](): words(`Parallelism Completions PodFailurePolicy SuccessPolicy
		ActiveDeadlineSeconds`),
	reflect.TypeFor[autoscalingv2.ContainerResourceMetricSource](): words(`Name Container`),
	reflect.TypeFor[storagev1.CSIDriverSpec]():                     words(`AttachRequired FSGroupPolicy`),
}

// elsewhere lists fields that the internal types lack, or have in another place.
var elsewhere = map[reflect.Type][]string{
	podSpec:                            words("DeprecatedServiceAccount HostNetwork HostPID HostIPC ShareProcessNamespace HostUsers"),
	reflect.TypeFor[corev1.NodeSpec](): words("PodCIDR"),
	reflect.TypeFor[corev1.Secret]():   words("StringData"),
}

// newer lists the fields that kube-apiserver 1.36 does not have.
var newer = map[reflect.Type][]string{
	podSpec:                            words("EvictionResponders"),
	reflect.TypeFor[batchv1.JobSpec](): words("Scheduling"),
	reflect.TypeFor[corev1.ClusterTrustBundleProjection]():  words("User"),
	reflect.TypeFor[corev1.ConfigMapVolumeSource]():         words("DefaultUser"),
	reflect.TypeFor[corev1.DownwardAPIVolumeFile]():         words("User"),
	reflect.TypeFor[corev1.DownwardAPIVolumeSource]():       words("DefaultUser"),
	reflect.TypeFor[corev1.EmptyDirVolumeSource]():          words("Mode"),
	reflect.TypeFor[corev1.GRPCAction]():                    words("Mode"),
	reflect.TypeFor[corev1.HTTPGetAction]():                 words("Protocol"),
	reflect.TypeFor[corev1.KeyToPath]():                     words("User"),
	reflect.TypeFor[corev1.NodeSpec]():                      words("PodPreemptionPolicy"),
	reflect.TypeFor[corev1.PodCertificateProjection]():      words("User"),
	reflect.TypeFor[corev1.ProjectedVolumeSource]():         words("DefaultUser"),
	reflect.TypeFor[corev1.SecretVolumeSource]():            words("DefaultUser"),
	reflect.TypeFor[corev1.ServiceAccountTokenProjection](): words("User"),
	reflect.TypeFor[corev1.VolumeMount]():                   words("BindMountOptions"),
	reflect.TypeFor[resourcev1.Device]():                    words("NodeAllocatableResources"),
	reflect.TypeFor[resourcev1.DeviceCounterConsumption]():  words("CompatibilityGroups"),
	reflect.TypeFor[resourcev1.DeviceSubRequest]():          words("DerivedAttributes"),
	reflect.TypeFor[resourcev1.ExactDeviceRequest]():        words("DerivedAttributes"),
	reflect.TypeFor[resourcev1.ResourceSliceSpec]():         words("PartitionTypeAttribute SkipNodeOperations"),
}

// plain lists pointer fields that are values in the internal types: unset ones are quoted as zero.
var plain = map[reflect.Type][]string{
	reflect.TypeFor[corev1.ServiceAccountTokenProjection]():            words("ExpirationSeconds"),
	reflect.TypeFor[appsv1.DeploymentSpec]():                           words("Replicas"),
	reflect.TypeFor[appsv1.ReplicaSetSpec]():                           words("Replicas"),
	reflect.TypeFor[appsv1.StatefulSetSpec]():                          words("Replicas"),
	reflect.TypeFor[appsv1.RollingUpdateDaemonSet]():                   words("MaxUnavailable MaxSurge"),
	reflect.TypeFor[appsv1.RollingUpdateDeployment]():                  words("MaxUnavailable MaxSurge"),
	reflect.TypeFor[appsv1.RollingUpdateStatefulSetStrategy]():         words("Partition"),
	reflect.TypeFor[flowcontrolv1.LimitedPriorityLevelConfiguration](): words("NominalConcurrencyShares"),
	reflect.TypeFor[admissionregistrationv1.ServiceReference]():        words("Port"),
}

func words(s string) []string { return strings.Fields(s) }
