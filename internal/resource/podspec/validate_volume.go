package podspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// allVolumes validates the volumes and collects the well-formed ones: mounts of the others are reported as not
// found.
func (v *validator) allVolumes(p *check.Path) {
	v.volumes = map[string]*corev1.VolumeSource{}
	made := map[string]bool{} // claims of ephemeral volumes
	named := v.meta != nil && v.meta.Name != ""
	if named {
		for i := range v.spec.Volumes {
			if vol := &v.spec.Volumes[i]; vol.Ephemeral != nil {
				made[v.meta.Name+"-"+vol.Name] = true
			}
		}
	}
	for i := range v.spec.Volumes {
		vol, at := &v.spec.Volumes[i], p.Index(i)
		before := v.Len()
		v.volumeSource(at, vol)
		if vol.Ephemeral != nil && named && vol.Name != "" && noEarlierSource(&vol.VolumeSource) {
			claim := v.meta.Name + "-" + vol.Name
			for _, msg := range validation.IsDNS1123Subdomain(claim) {
				v.Invalid(at.Child("name"), vol.Name, fmt.Sprintf("PVC name %q: %v", claim, msg))
			}
		}
		if vol.Name == "" {
			v.Required(at.Child("name"), "")
		} else {
			v.Label(at.Child("name"), vol.Name)
		}
		if v.volumes[vol.Name] != nil {
			v.Duplicate(at.Child("name"), vol.Name)
		}
		if v.Len() == before {
			v.volumes[vol.Name] = &vol.VolumeSource
		}
		if c := vol.PersistentVolumeClaim; c != nil && made[c.ClaimName] {
			v.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName, "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

type volume = corev1.VolumeSource

// source is a volume source, of which a volume has exactly one.
type source struct {
	name string
	set  func(s *volume) bool
	// check validates the source at p of the volume at at; nil accepts every source.
	check func(v *validator, at, p *check.Path, s *volume)
}

// surplusName has the names of sources in errors about a surplus source, where Kubernetes spells them differently.
var surplusName = map[string]string{"cephfs": "cephFS", "downwardAPI": "downwarAPI"}

func (v *validator) volumeSource(p *check.Path, vol *corev1.Volume) {
	n := 0
	for i := range sources {
		s := &sources[i]
		if !s.set(&vol.VolumeSource) {
			continue
		}
		if n++; n > 1 {
			v.Forbidden(p.Child(cmp.Or(surplusName[s.name], s.name)), "may not specify more than 1 volume type")
		} else if s.check != nil {
			s.check(v, p, p.Child(s.name), &vol.VolumeSource)
		}
	}
	if n == 0 {
		v.Required(p, "must specify a volume type")
	}
}

// sources are in the order of the API, in a table, so that no list is allocated for each volume.
var sources = []source{
	{"emptyDir", func(s *volume) bool { return s.EmptyDir != nil }, func(v *validator, _, p *check.Path, s *volume) {
		if l := s.EmptyDir.SizeLimit; l != nil && l.Sign() < 0 {
			v.Forbidden(p.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")
		}
	}},
	{"hostPath", func(s *volume) bool { return s.HostPath != nil }, func(v *validator, _, p *check.Path, s *volume) { HostPath(v.Errors, p, s.HostPath) }},
	{"gitRepo", func(s *volume) bool { return s.GitRepo != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("repository"), s.GitRepo.Repository)
		v.Descending(p.Child("directory"), s.GitRepo.Directory)
	}},
	{"gcePersistentDisk", func(s *volume) bool { return s.GCEPersistentDisk != nil }, func(v *validator, at, _ *check.Path, s *volume) {
		Disk(v.Errors, at.Child("persistentDisk"), "pdName", s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.Partition)
	}},
	{"awsElasticBlockStore", func(s *volume) bool { return s.AWSElasticBlockStore != nil }, func(v *validator, _, p *check.Path, s *volume) {
		Disk(v.Errors, p, "volumeID", s.AWSElasticBlockStore.VolumeID, s.AWSElasticBlockStore.Partition)
	}},
	{"secret", func(s *volume) bool { return s.Secret != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("secretName"), s.Secret.SecretName)
		v.FileMode(p.Child("defaultMode"), s.Secret.DefaultMode)
		v.items(p.Child("items"), s.Secret.Items)
	}},
	{"nfs", func(s *volume) bool { return s.NFS != nil }, func(v *validator, _, p *check.Path, s *volume) { NFS(v.Errors, p, s.NFS) }},
	{"iscsi", func(s *volume) bool { return s.ISCSI != nil }, func(v *validator, _, p *check.Path, s *volume) { ISCSI(v.Errors, p, s.ISCSI) }},
	{"glusterfs", func(s *volume) bool { return s.Glusterfs != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("endpoints"), s.Glusterfs.EndpointsName)
		v.required(p.Child("path"), s.Glusterfs.Path)
	}},
	{"flocker", func(s *volume) bool { return s.Flocker != nil }, func(v *validator, _, p *check.Path, s *volume) { Flocker(v.Errors, p, s.Flocker) }},
	{"persistentVolumeClaim", func(s *volume) bool { return s.PersistentVolumeClaim != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("claimName"), s.PersistentVolumeClaim.ClaimName)
	}},
	{"rbd", func(s *volume) bool { return s.RBD != nil }, func(v *validator, _, p *check.Path, s *volume) {
		if len(s.RBD.CephMonitors) == 0 {
			v.Required(p.Child("monitors"), "")
		}
		v.required(p.Child("image"), s.RBD.RBDImage)
	}},
	{"cinder", func(s *volume) bool { return s.Cinder != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("volumeID"), s.Cinder.VolumeID)
		v.secret(p, s.Cinder.SecretRef)
	}},
	{"cephfs", func(s *volume) bool { return s.CephFS != nil }, func(v *validator, _, p *check.Path, s *volume) {
		if len(s.CephFS.Monitors) == 0 {
			v.Required(p.Child("monitors"), "")
		}
	}},
	{"quobyte", func(s *volume) bool { return s.Quobyte != nil }, func(v *validator, _, p *check.Path, s *volume) { Quobyte(v.Errors, p, s.Quobyte) }},
	{"downwardAPI", func(s *volume) bool { return s.DownwardAPI != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.FileMode(p.Child("defaultMode"), s.DownwardAPI.DefaultMode)
		for i := range s.DownwardAPI.Items {
			v.downwardFile(p, &s.DownwardAPI.Items[i])
		}
	}},
	{"fc", func(s *volume) bool { return s.FC != nil }, func(v *validator, _, p *check.Path, s *volume) { FC(v.Errors, p, s.FC) }},
	{"flexVolume", func(s *volume) bool { return s.FlexVolume != nil }, func(v *validator, _, p *check.Path, s *volume) {
		FlexVolume(v.Errors, p, s.FlexVolume.Driver, s.FlexVolume.Options)
	}},
	{"configMap", func(s *volume) bool { return s.ConfigMap != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("name"), s.ConfigMap.Name)
		v.FileMode(p.Child("defaultMode"), s.ConfigMap.DefaultMode)
		v.items(p.Child("items"), s.ConfigMap.Items)
	}},
	{"azureFile", func(s *volume) bool { return s.AzureFile != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("secretName"), s.AzureFile.SecretName)
		v.required(p.Child("shareName"), s.AzureFile.ShareName)
	}},
	{"vsphereVolume", func(s *volume) bool { return s.VsphereVolume != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("volumePath"), s.VsphereVolume.VolumePath)
	}},
	{"photonPersistentDisk", func(s *volume) bool { return s.PhotonPersistentDisk != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("pdID"), s.PhotonPersistentDisk.PdID)
	}},
	{"portworxVolume", func(s *volume) bool { return s.PortworxVolume != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("volumeID"), s.PortworxVolume.VolumeID)
	}},
	{"azureDisk", func(s *volume) bool { return s.AzureDisk != nil }, func(v *validator, _, p *check.Path, s *volume) {
		AzureDisk(v.Errors, p, s.AzureDisk)
	}},
	{"storageos", func(s *volume) bool { return s.StorageOS != nil }, func(v *validator, _, p *check.Path, s *volume) {
		StorageOS(v.Errors, p, s.StorageOS.VolumeName, s.StorageOS.VolumeNamespace)
		v.secret(p, s.StorageOS.SecretRef)
	}},
	{"projected", func(s *volume) bool { return s.Projected != nil }, func(v *validator, _, p *check.Path, s *volume) { v.projected(p, s.Projected) }},
	{"scaleIO", func(s *volume) bool { return s.ScaleIO != nil }, func(v *validator, _, p *check.Path, s *volume) {
		v.required(p.Child("gateway"), s.ScaleIO.Gateway)
		v.required(p.Child("system"), s.ScaleIO.System)
		v.required(p.Child("volumeName"), s.ScaleIO.VolumeName)
	}},
	{"csi", func(s *volume) bool { return s.CSI != nil }, func(v *validator, _, p *check.Path, s *volume) {
		CSIDriverName(v.Errors, p.Child("driver"), s.CSI.Driver)
		if r := s.CSI.NodePublishSecretRef; r != nil && r.Name != "" {
			v.Subdomain(p.Child("name"), r.Name)
		} else if r != nil {
			v.Required(p.Child("nodePublishSecretRef", "name"), "")
		}
	}},
	{"ephemeral", func(s *volume) bool { return s.Ephemeral != nil }, func(v *validator, _, p *check.Path, s *volume) {
		p = p.Child("volumeClaimTemplate")
		if s.Ephemeral.VolumeClaimTemplate == nil {
			v.Required(p, "")
		} else {
			claimTemplate(v.Errors, p, s.Ephemeral.VolumeClaimTemplate)
		}
	}},
	{"image", func(s *volume) bool { return s.Image != nil }, func(v *validator, _, p *check.Path, s *volume) {
		if v.isPod {
			v.required(p.Child("reference"), s.Image.Reference)
		}
		check.OneOf(v.Errors, p.Child("pullPolicy"), s.Image.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	}},
}

func (v *validator) required(p *check.Path, s string) {
	if s == "" {
		v.Required(p, "")
	}
}

func (v *validator) items(p *check.Path, items []corev1.KeyToPath) {
	for i := range items {
		v.item(p.Index(i), &items[i])
	}
}

func (v *validator) item(p *check.Path, k *corev1.KeyToPath) {
	v.required(p.Child("key"), k.Key)
	v.required(p.Child("path"), k.Path)
	v.FilePath(p.Child("path"), k.Path)
	v.FileMode(p.Child("mode"), k.Mode)
}

var volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

func (v *validator) downwardFile(p *check.Path, d *corev1.DownwardAPIVolumeFile) {
	v.required(p.Child("path"), d.Path)
	v.FilePath(p.Child("path"), d.Path)
	switch {
	case d.FieldRef != nil:
		fieldRef(v.Errors, p.Child("fieldRef"), d.FieldRef, volumeFields)
		if d.ResourceFieldRef != nil {
			v.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case d.ResourceFieldRef != nil:
		resourceFieldRef(v.Errors, p.Child("resourceFieldRef"), d.ResourceFieldRef, true)
	default:
		v.Required(p, "one of fieldRef and resourceFieldRef is required")
	}
	v.FileMode(p.Child("mode"), d.Mode)
}

// HostPath reports the errors of a path on the node.
func HostPath(f *check.Errors, p *check.Path, h *corev1.HostPathVolumeSource) {
	if h.Path == "" {
		f.Required(p.Child("path"), "")
		return
	}
	f.NoBacksteps(p.Child("path"), h.Path)
	if h.Type != nil {
		check.Known(f, p.Child("type"), *h.Type, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev,
			corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)
	}
}

// NFS reports the errors of an NFS export.
func NFS(f *check.Errors, p *check.Path, n *corev1.NFSVolumeSource) {
	if n.Server == "" {
		f.Required(p.Child("server"), "")
	}
	if n.Path == "" {
		f.Required(p.Child("path"), "")
	}
	if !strings.HasPrefix(n.Path, "/") {
		f.Invalid(p.Child("path"), n.Path, "must be an absolute path")
	}
}

// CSIDriverName requires the name of a CSI driver.
func CSIDriverName(f *check.Errors, p *check.Path, name string) {
	if name == "" {
		f.Required(p, "")
		return
	}
	if len(name) > 63 {
		f.Add(field.TooLong(p.Field(), "", 63))
	}
	f.Each(p, name, validation.IsDNS1123Subdomain(strings.ToLower(name)))
}

// FlexVolume reports the errors of a FlexVolume.
func FlexVolume(f *check.Errors, p *check.Path, driver string, options map[string]string) {
	if driver == "" {
		f.Required(p.Child("driver"), "")
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		prefix, _, _ := strings.Cut(key, "/")
		if prefix = "." + strings.ToLower(prefix); strings.HasSuffix(prefix, ".kubernetes.io") || strings.HasSuffix(prefix, ".k8s.io") {
			f.Invalid(p.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

// Disk validates a numbered partition of a cloud disk, whose id is in the field name.
func Disk(f *check.Errors, p *check.Path, name, id string, partition int32) {
	if id == "" {
		f.Required(p.Child(name), "")
	}
	if partition < 0 || partition > 255 {
		f.Invalid(p.Child("partition"), partition, validation.InclusiveRangeError(1, 255))
	}
}

// noEarlierSource reports whether no source before ephemeral is set.
func noEarlierSource(s *corev1.VolumeSource) bool {
	rest := *s
	rest.Ephemeral, rest.Image = nil, nil
	return rest == corev1.VolumeSource{}
}
