package gates

import (
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

// A gatedField is a field of a type of k8s.io/api and the gate that guards it.
type gatedField struct {
	gate  string
	of    reflect.Type
	field string
}

func of[T any](gate, field string) gatedField {
	return gatedField{gate, reflect.TypeFor[T](), field}
}

// table lists the gated fields whose gates are off in some version.
var table = slices.Concat(laterFields, earlierFields)

// laterFields are those of the gates that are off by default in all versions. All are alpha, but for GenericWorkload and
// DRAWorkloadResourceClaims, which are beta.
var laterFields = []gatedField{
	of[corev1.SecretVolumeSource]("AtomicWriteVolumeUserFields", "DefaultUser"),
	of[corev1.ConfigMapVolumeSource]("AtomicWriteVolumeUserFields", "DefaultUser"),
	of[corev1.ProjectedVolumeSource]("AtomicWriteVolumeUserFields", "DefaultUser"),
	of[corev1.DownwardAPIVolumeSource]("AtomicWriteVolumeUserFields", "DefaultUser"),
	of[corev1.KeyToPath]("AtomicWriteVolumeUserFields", "User"),
	of[corev1.DownwardAPIVolumeFile]("AtomicWriteVolumeUserFields", "User"),
	of[corev1.ServiceAccountTokenProjection]("AtomicWriteVolumeUserFields", "User"),
	of[corev1.ClusterTrustBundleProjection]("AtomicWriteVolumeUserFields", "User"),
	of[corev1.PodCertificateProjection]("AtomicWriteVolumeUserFields", "User"),
	of[corev1.EmptyDirVolumeSource]("EmptyDirVolumeMode", "Mode"),
	of[corev1.VolumeMount]("VolumeBindMountOptions", "BindMountOptions"),
	of[corev1.Lifecycle]("ContainerStopSignals", "StopSignal"),
	of[corev1.HTTPGetAction]("H2CContainerProbe", "Protocol"),
	of[corev1.GRPCAction]("GRPCContainerProbeTLS", "Mode"),
	of[corev1.PodSpec]("GenericWorkload", "SchedulingGroup"),
	of[corev1.PodSpec]("EvictionRequestAPI", "EvictionResponders"),
	of[corev1.NodeSpec]("InPlacePodVerticalScalingSchedulerPreemption", "PodPreemptionPolicy"),
	of[schedulingv1beta1.PodGroupSpec]("CompositePodGroup", "ParentCompositePodGroupName"),
	of[schedulingv1beta1.PodGroupSpec]("TopologyAwareWorkloadScheduling", "SchedulingConstraints"),
	of[schedulingv1beta1.PodGroupSpec]("DRAWorkloadResourceClaims", "ResourceClaims"),
	of[schedulingv1beta1.PodGroupSpec]("PodGroupPreemptionPolicy", "PreemptionPolicy"),
	of[schedulingv1beta1.PodGroupStatus]("DRAWorkloadResourceClaims", "ResourceClaimStatuses"),
	of[schedulingv1beta1.PodGroupTemplate]("TopologyAwareWorkloadScheduling", "SchedulingConstraints"),
	of[schedulingv1beta1.PodGroupTemplate]("DRAWorkloadResourceClaims", "ResourceClaims"),
	of[schedulingv1beta1.PodGroupTemplate]("PodGroupPreemptionPolicy", "PreemptionPolicy"),
	of[schedulingv1beta1.CompositePodGroupTemplate]("PodGroupPreemptionPolicy", "PreemptionPolicy"),
	of[schedulingv1alpha3.CompositePodGroupSpec]("PodGroupPreemptionPolicy", "PreemptionPolicy"),
	of[schedulingv1beta1.WorkloadSpec]("CompositePodGroup", "CompositePodGroupTemplates"),
	of[batchv1.JobSpec]("WorkloadWithJob", "Scheduling"),
	of[resourcev1.ResourceSliceSpec]("DRAPartitionableDevicesType", "PartitionTypeAttribute"),
	of[resourcev1alpha3.ResourcePoolStatusRequestSpec]("DRAPartitionableDevicesType", "DefaultPartitionTypeAttribute"),
	of[resourcev1.ResourceSliceSpec]("DRAOptionalNodeOperations", "SkipNodeOperations"),
	of[resourcev1.DeviceAttribute]("DRAListTypeAttributes", "IntValues"),
	of[resourcev1.DeviceAttribute]("DRAListTypeAttributes", "BoolValues"),
	of[resourcev1.DeviceAttribute]("DRAListTypeAttributes", "StringValues"),
	of[resourcev1.DeviceAttribute]("DRAListTypeAttributes", "VersionValues"),
	of[resourcev1.Device]("DRANodeAllocatableResources", "NodeAllocatableResources"),
	of[resourcev1.DeviceCounterConsumption]("DRADeviceCompatibilityGroups", "CompatibilityGroups"),
	of[resourcev1.ExactDeviceRequest]("DRADerivedAttributes", "DerivedAttributes"),
	of[resourcev1.DeviceSubRequest]("DRADerivedAttributes", "DerivedAttributes"),
}

// warnings has the texts for the clients whose field is dropped, by gate. They are this server's own;
// kube-apiserver sends none. Without its group a pod is not held, which its owner should know.
var warnings = map[string]string{
	"GenericWorkload": "dropped, since the feature gate GenericWorkload is off: the pod is scheduled by itself",
}
