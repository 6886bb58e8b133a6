package podspec

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// Flocker reports the errors of a Flocker dataset.
func Flocker(f *check.Errors, p *check.Path, s *corev1.FlockerVolumeSource) {
	if s.DatasetName == "" && s.DatasetUUID == "" {
		f.Required(p, "one of datasetName and datasetUUID is required")
	}
	if s.DatasetName != "" && s.DatasetUUID != "" {
		f.Invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(s.DatasetName, "/") {
		f.Invalid(p.Child("datasetName"), s.DatasetName, "must not contain '/'")
	}
}

// Quobyte reports the errors of a Quobyte volume.
func Quobyte(f *check.Errors, p *check.Path, s *corev1.QuobyteVolumeSource) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case s.Registry == "":
		f.Required(p.Child("registry"), pairs)
	case len(s.Tenant) >= 65:
		f.Required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				f.Invalid(p.Child("registry"), s.Registry, pairs)
			}
		}
	}
	if s.Volume == "" {
		f.Required(p.Child("volume"), "")
	}
}

// FC reports the errors of a Fibre Channel volume.
func FC(f *check.Errors, p *check.Path, s *corev1.FCVolumeSource) {
	if len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0 {
		f.Required(p.Child("targetWWNs"), "must specify either targetWWNs or wwids, but not both")
	}
	if len(s.TargetWWNs) == 0 {
		return
	}
	if len(s.WWIDs) > 0 {
		f.Invalid(p.Child("targetWWNs"), s.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously")
	}
	if s.Lun == nil {
		f.Required(p.Child("lun"), "lun is required if targetWWNs is specified")
	} else if *s.Lun < 0 || *s.Lun > 255 {
		f.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, 255))
	}
}

// AzureDisk reports the errors of an Azure disk.
func AzureDisk(f *check.Errors, p *check.Path, s *corev1.AzureDiskVolumeSource) {
	uri := p.Child("diskURI")
	if s.DiskName == "" {
		f.Required(p.Child("diskName"), "")
	}
	if s.DataDiskURI == "" {
		f.Required(uri, "")
	}
	if s.CachingMode != nil {
		check.Known(f, p.Child("cachingMode"), *s.CachingMode,
			corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)
	}
	if s.Kind == nil {
		return
	}
	check.Known(f, p.Child("kind"), *s.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)
	form, prefix := "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", "https://"
	if *s.Kind == corev1.AzureManagedDisk {
		form, prefix = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}", "/subscriptions/"
	}
	if !strings.HasPrefix(s.DataDiskURI, prefix) {
		f.Add(field.NotSupported(uri.Field(), s.DataDiskURI, []string{form}))
	}
}

// StorageOS reports the errors of the name and namespace of a StorageOS volume.
func StorageOS(f *check.Errors, p *check.Path, name, namespace string) {
	if name == "" {
		f.Required(p.Child("volumeName"), "")
	} else {
		f.Label(p.Child("volumeName"), name)
	}
	if namespace != "" {
		f.Label(p.Child("volumeNamespace"), namespace)
	}
}

func (v *validator) secret(p *check.Path, r *corev1.LocalObjectReference) {
	if r != nil {
		v.required(p.Child("secretRef", "name"), r.Name)
	}
}
