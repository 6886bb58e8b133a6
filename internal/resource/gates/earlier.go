package gates

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// earlierFields are those of the gates that are on by default in the newest version and off in an earlier one.
var earlierFields = []gatedField{
	of[corev1.PodSpec]("DynamicResourceAllocation", "ResourceClaims"),
	of[corev1.ResourceRequirements]("DynamicResourceAllocation", "Claims"),
	of[corev1.PodStatus]("DynamicResourceAllocation", "ResourceClaimStatuses"),
	of[corev1.PodSpec]("PodLevelResources", "Resources"),
	of[corev1.PodSpec]("HostnameOverride", "HostnameOverride"),
	of[corev1.EnvVarSource]("EnvFiles", "FileKeyRef"),
	of[corev1.Container]("ContainerRestartRules", "RestartPolicyRules"),
	of[corev1.EphemeralContainerCommon]("ContainerRestartRules", "RestartPolicyRules"),
	of[corev1.VolumeProjection]("ClusterTrustBundleProjection", "ClusterTrustBundle"),
	of[corev1.VolumeProjection]("PodCertificateRequest", "PodCertificate"),
	of[corev1.PodStatus]("PodObservedGenerationTracking", "ObservedGeneration"),
	of[corev1.PodCondition]("PodObservedGenerationTracking", "ObservedGeneration"),
	of[corev1.PodStatus]("DRAExtendedResource", "ExtendedResourceClaimStatus"),
	of[corev1.PodStatus]("InPlacePodLevelResourcesVerticalScaling", "AllocatedResources"),
	of[corev1.PodStatus]("InPlacePodLevelResourcesVerticalScaling", "Resources"),
	of[corev1.ContainerStatus]("ResourceHealthStatus", "AllocatedResourcesStatus"),
	of[corev1.ResourceHealth]("ResourceHealthStatusMessage", "Message"),
	of[corev1.NodeStatus]("NodeDeclaredFeatures", "DeclaredFeatures"),

	of[corev1.PersistentVolumeSpec]("VolumeAttributesClass", "VolumeAttributesClassName"),
	of[corev1.PersistentVolumeClaimSpec]("VolumeAttributesClass", "VolumeAttributesClassName"),
	of[corev1.PersistentVolumeClaimStatus]("VolumeAttributesClass", "CurrentVolumeAttributesClassName"),
	of[corev1.PersistentVolumeClaimStatus]("VolumeAttributesClass", "ModifyVolumeStatus"),
	of[storagev1.CSIDriverSpec]("MutableCSINodeAllocatableCount", "NodeAllocatableUpdatePeriodSeconds"),
	of[storagev1.VolumeError]("MutableCSINodeAllocatableCount", "ErrorCode"),
	of[storagev1.CSIDriverSpec]("CSIServiceAccountTokenSecrets", "ServiceAccountTokenInSecrets"),
	of[storagev1.CSIDriverSpec]("VolumeLimitScaling", "PreventPodSchedulingIfMissing"),

	of[appsv1.RollingUpdateStatefulSetStrategy]("MaxUnavailableStatefulSet", "MaxUnavailable"),
	of[appsv1.DeploymentStatus]("DeploymentReplicaSetTerminatingReplicas", "TerminatingReplicas"),
	of[appsv1.ReplicaSetStatus]("DeploymentReplicaSetTerminatingReplicas", "TerminatingReplicas"),
	of[autoscalingv2.HPAScalingRules]("HPAConfigurableTolerance", "Tolerance"),
	of[discoveryv1.EndpointHints]("PreferSameTrafficDistribution", "ForNodes"),

	of[resourcev1.DeviceClassSpec]("DRAExtendedResource", "ExtendedResourceName"),
	of[resourcev1.DeviceRequest]("DRAPrioritizedList", "FirstAvailable"),
	of[resourcev1.ExactDeviceRequest]("DRAAdminAccess", "AdminAccess"),
	of[resourcev1.DeviceRequestAllocationResult]("DRAAdminAccess", "AdminAccess"),
	of[resourcev1.ExactDeviceRequest]("DRADeviceTaints", "Tolerations"),
	of[resourcev1.DeviceSubRequest]("DRADeviceTaints", "Tolerations"),
	of[resourcev1.Device]("DRADeviceTaints", "Taints"),
	of[resourcev1.ExactDeviceRequest]("DRAConsumableCapacity", "Capacity"),
	of[resourcev1.DeviceSubRequest]("DRAConsumableCapacity", "Capacity"),
	of[resourcev1.DeviceConstraint]("DRAConsumableCapacity", "DistinctAttribute"),
	of[resourcev1.Device]("DRAConsumableCapacity", "AllowMultipleAllocations"),
	of[resourcev1.DeviceCapacity]("DRAConsumableCapacity", "RequestPolicy"),
	of[resourcev1.DeviceRequestAllocationResult]("DRAConsumableCapacity", "ShareID"),
	of[resourcev1.DeviceRequestAllocationResult]("DRAConsumableCapacity", "ConsumedCapacity"),
	of[resourcev1.AllocatedDeviceStatus]("DRAConsumableCapacity", "ShareID"),
	of[resourcev1.Device]("DRADeviceBindingConditions", "BindsToNode"),
	of[resourcev1.Device]("DRADeviceBindingConditions", "BindingConditions"),
	of[resourcev1.Device]("DRADeviceBindingConditions", "BindingFailureConditions"),
	of[resourcev1.DeviceRequestAllocationResult]("DRADeviceBindingConditions", "BindingConditions"),
	of[resourcev1.DeviceRequestAllocationResult]("DRADeviceBindingConditions", "BindingFailureConditions"),
	of[resourcev1.ResourceSliceSpec]("DRAPartitionableDevices", "SharedCounters"),
	of[resourcev1.ResourceSliceSpec]("DRAPartitionableDevices", "PerDeviceNodeSelection"),
	of[resourcev1.Device]("DRAPartitionableDevices", "ConsumesCounters"),
	of[resourcev1.Device]("DRAPartitionableDevices", "NodeName"),
	of[resourcev1.Device]("DRAPartitionableDevices", "NodeSelector"),
	of[resourcev1.Device]("DRAPartitionableDevices", "AllNodes"),
}
