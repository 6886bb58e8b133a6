package resource_test

// gates are the feature gates of tags, and whether they are on here.
var gates = map[string]bool{
	"DRAPartitionableDevicesType":                  false,
	"HPAScaleToZero":                               true,
	"InPlacePodVerticalScalingSchedulerPreemption": false,
	"WorkloadWithJob":                              true,
}

// otherPackages are the packages of k8s.io/api whose types are not stored, each with the reason why their tags are not
// checked.
var otherPackages = map[string]string{
	"admissionregistration/v1alpha1": "the version is not served",
	"admissionregistration/v1beta1":  "the version is not served",
	"apps/v1beta1":                   "the version is not served",
	"apps/v1beta2":                   "the version is not served",
	"authorization/v1":               "reviews are validated by the server's review endpoints, and the tags are alpha",
	"authorization/v1beta1":          "the version is not served",
	"autoscaling/v1":                 "a served version of HorizontalPodAutoscaler, which is validated as autoscaling/v2; Scale is validated by the kind with the subresource",
	"batch/v1beta1":                  "the version is not served",
	"certificates/v1alpha1":          "the version is not served",
	"certificates/v1beta1":           "the version is not served",
	"discovery/v1beta1":              "the version is not served",
	"extensions/v1beta1":             "the group is not served",
	"flowcontrol/v1beta1":            "the version is not served",
	"flowcontrol/v1beta2":            "the version is not served",
	"flowcontrol/v1beta3":            "the version is not served",
	"lifecycle/v1alpha1":             "EvictionRequest is not served",
	"networking/v1beta1":             "the version is not served",
	"node/v1alpha1":                  "the version is not served",
	"node/v1beta1":                   "the version is not served",
	"policy/v1beta1":                 "the version is not served",
	"rbac/v1alpha1":                  "the version is not served",
	"rbac/v1beta1":                   "the version is not served",
	"resource/v1alpha3":              "the version is not served",
	"resource/v1beta1":               "the version is not served",
	"resource/v1beta2":               "the version is not served",
	"scheduling/v1alpha3":            "PodGroup and Workload are not served",
	"scheduling/v1beta1":             "PodGroup and Workload are not served",
	"storage/v1alpha1":               "the version is not served",
	"storage/v1beta1":                "the version is not served",
	"storagemigration/v1beta1":       "the version is not served",
}

const (
	alphaFeature = "of an alpha feature that is off: the field has no effect"
	alphaTag     = "an alpha tag, which upstream does not enforce either"
	generated    = "a name may be generated"
	handWritten  = "upstream's hand-written rule has another type of error, or wants the field"
)

// reasons has the tags that are not checked, or not honoured, each with the reason. A type stands for all of its tags.
var reasons = map[string]string{
	"core/v1.EvictionResponder":                  alphaFeature,
	"core/v1.NodeAllocatableMappedResources":     alphaFeature,
	"core/v1.NodeAllocatableOverheadResources":   alphaFeature,
	"core/v1.NodeAllocatableResourceClaimStatus": alphaFeature,
	"core/v1.NodePodPreemptionPolicy":            alphaFeature,
	"core/v1.PodVolumeHealth":                    alphaFeature,
	"core/v1.VolumeHealthCondition":              alphaFeature,
	"core/v1.VolumeHealthStatus":                 alphaFeature,
	"resource/v1.DeviceDerivedAttribute":         alphaFeature,
	"resource/v1.NodeAllocatableMapping":         alphaFeature,
	"resource/v1.NodeAllocatableOverhead":        alphaFeature,
	"resource/v1.NodeAllocatableResource":        alphaFeature,
	`admissionregistration/v1.ValidatingAdmissionPolicyStatus.Conditions alpha(since: "1.37")=+k8s:listType=map`:   alphaTag,
	`autoscaling/v2.CrossVersionObjectReference.Kind alpha(since: "1.37")=+k8s:required`:                           alphaTag,
	`autoscaling/v2.CrossVersionObjectReference.Name alpha(since: "1.37")=+k8s:required`:                           alphaTag,
	`certificates/v1.CertificateSigningRequestStatus.Conditions beta(since: "1.37")=+k8s:listType=map`:             handWritten,
	`certificates/v1.PodCertificateRequestStatus.Conditions alpha(since: "1.37")=+k8s:listType=map`:                alphaTag,
	`core/v1.NodeSpec.PodPreemptionPolicy ifDisabled(InPlacePodVerticalScalingSchedulerPreemption)=+k8s:forbidden`: alphaFeature,
	`core/v1.PersistentVolumeClaimStatus.HealthStatus optional`:                                                    alphaFeature,
	`core/v1.PodSpec.EvictionResponders alpha(since: "1.37")=+k8s:dependentForbidden("schedulingGroup")`:           alphaFeature,
	`core/v1.PodSpec.EvictionResponders listType=map`:                                                              alphaFeature,
	`core/v1.PodSpec.EvictionResponders maxItems=10`:                                                               alphaFeature,
	`core/v1.PodStatus.NodeAllocatableResourceClaimStatuses listType=map`:                                          alphaFeature,
	`core/v1.PodStatus.NodeAllocatableResourceClaimStatuses optional`:                                              alphaFeature,
	`core/v1.PodStatus.VolumeHealth listType=map`:                                                                  alphaFeature,
	`core/v1.PodStatus.VolumeHealth optional`:                                                                      alphaFeature,
	`core/v1.ReplicationController.ObjectMeta beta(since: "1.37")=+k8s:subfield(name)=+k8s:optional`:               generated,
	`core/v1.ReplicationControllerSpec.Template alpha(since: "1.37")=+k8s:optional`:                                handWritten,
	`core/v1.VolumeHealthStatusType enum`:                                                                          alphaFeature,
	`resource/v1.DeviceClass.ObjectMeta beta(since: "1.37")=+k8s:subfield(name)=+k8s:optional`:                     generated,
	`resource/v1.DeviceConfiguration.Opaque beta(since: "1.37")=+k8s:optional`:                                     handWritten,
	`resource/v1.DeviceCounterConsumption.CompatibilityGroups eachVal=+k8s:format=k8s-short-name`:                  alphaFeature,
	`resource/v1.DeviceCounterConsumption.CompatibilityGroups maxItems=2`:                                          alphaFeature,
	`resource/v1.DeviceCounterConsumption.CompatibilityGroups unique=set`:                                          alphaFeature,
	`resource/v1.DeviceRequestAllocationResult.SkipNodeOperations listType=set`:                                    alphaFeature,
	`resource/v1.DeviceSubRequest.DerivedAttributes maxItems=32`:                                                   alphaFeature,
	`resource/v1.ExactDeviceRequest.DerivedAttributes maxItems=32`:                                                 alphaFeature,
	`resource/v1.ResourceSliceSpec.PartitionTypeAttribute ifDisabled(DRAPartitionableDevicesType)=+k8s:forbidden`:  alphaFeature,
	`resource/v1.ResourceSliceSpec.SkipNodeOperations listType=set`:                                                alphaFeature,
	`resource/v1.SkipNodeOperation enum`:                                                                           alphaFeature,
}
