package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/resource/check"
)

// allVolumes looks at the volumes and remembers the well-formed ones: mounts
// of the others are reported as mounts of nothing.
func (v *validator) allVolumes(p *field.Path) {
	v.volumes = map[string]*corev1.VolumeSource{}
	made := map[string]bool{} // claims made for ephemeral volumes
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
		if vol.Ephemeral != nil && named && vol.Name != "" && first(&vol.VolumeSource) {
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

// source is one of the fields of a volume of which just one is to be set.
type source struct {
	name  string
	set   bool
	check func(p *field.Path)
}

// spelled is how some sources are called where they are one too many. Clients
// know these spellings.
var spelled = map[string]string{"cephfs": "cephFS", "downwardAPI": "downwarAPI"}

func (v *validator) volumeSource(p *field.Path, vol *corev1.Volume) {
	n := 0
	for _, s := range v.sources(p, vol) {
		if !s.set {
			continue
		}
		if n++; n > 1 {
			v.Forbidden(p.Child(or(spelled[s.name], s.name)), "may not specify more than 1 volume type")
		} else if s.check != nil {
			s.check(p.Child(s.name))
		}
	}
	if n == 0 {
		v.Required(p, "must specify a volume type")
	}
}

func (v *validator) sources(p *field.Path, vol *corev1.Volume) []source {
	s := &vol.VolumeSource
	return []source{
		{"emptyDir", s.EmptyDir != nil, func(p *field.Path) {
			if l := s.EmptyDir.SizeLimit; l != nil && l.Sign() < 0 {
				v.Forbidden(p.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")
			}
		}},
		{"hostPath", s.HostPath != nil, func(p *field.Path) { HostPath(v.Faults, p, s.HostPath) }},
		{"gitRepo", s.GitRepo != nil, func(p *field.Path) {
			v.need(p.Child("repository"), s.GitRepo.Repository)
			v.Descending(p.Child("directory"), s.GitRepo.Directory)
		}},
		{"gcePersistentDisk", s.GCEPersistentDisk != nil, func(*field.Path) {
			Disk(v.Faults, p.Child("persistentDisk"), "pdName", s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.Partition)
		}},
		{"awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p *field.Path) {
			Disk(v.Faults, p, "volumeID", s.AWSElasticBlockStore.VolumeID, s.AWSElasticBlockStore.Partition)
		}},
		{"secret", s.Secret != nil, func(p *field.Path) {
			v.need(p.Child("secretName"), s.Secret.SecretName)
			v.FileMode(p.Child("defaultMode"), s.Secret.DefaultMode)
			v.items(p.Child("items"), s.Secret.Items)
		}},
		{"nfs", s.NFS != nil, func(p *field.Path) { NFS(v.Faults, p, s.NFS) }},
		{"iscsi", s.ISCSI != nil, func(p *field.Path) {
			v.need(p.Child("targetPortal"), s.ISCSI.TargetPortal)
			v.need(p.Child("iqn"), s.ISCSI.IQN)
		}},
		{"glusterfs", s.Glusterfs != nil, func(p *field.Path) {
			v.need(p.Child("endpoints"), s.Glusterfs.EndpointsName)
			v.need(p.Child("path"), s.Glusterfs.Path)
		}},
		{"flocker", s.Flocker != nil, nil},
		{"persistentVolumeClaim", s.PersistentVolumeClaim != nil, func(p *field.Path) { v.need(p.Child("claimName"), s.PersistentVolumeClaim.ClaimName) }},
		{"rbd", s.RBD != nil, func(p *field.Path) {
			if len(s.RBD.CephMonitors) == 0 {
				v.Required(p.Child("monitors"), "")
			}
			v.need(p.Child("image"), s.RBD.RBDImage)
		}},
		{"cinder", s.Cinder != nil, func(p *field.Path) { v.need(p.Child("volumeID"), s.Cinder.VolumeID) }},
		{"cephfs", s.CephFS != nil, func(p *field.Path) {
			if len(s.CephFS.Monitors) == 0 {
				v.Required(p.Child("monitors"), "")
			}
		}},
		{"quobyte", s.Quobyte != nil, nil},
		{"downwardAPI", s.DownwardAPI != nil, func(p *field.Path) {
			v.FileMode(p.Child("defaultMode"), s.DownwardAPI.DefaultMode)
			for i := range s.DownwardAPI.Items {
				v.downwardFile(p, &s.DownwardAPI.Items[i])
			}
		}},
		{"fc", s.FC != nil, nil},
		{"flexVolume", s.FlexVolume != nil, func(p *field.Path) { FlexVolume(v.Faults, p, s.FlexVolume.Driver, s.FlexVolume.Options) }},
		{"configMap", s.ConfigMap != nil, func(p *field.Path) {
			v.need(p.Child("name"), s.ConfigMap.Name)
			v.FileMode(p.Child("defaultMode"), s.ConfigMap.DefaultMode)
			v.items(p.Child("items"), s.ConfigMap.Items)
		}},
		{"azureFile", s.AzureFile != nil, func(p *field.Path) {
			v.need(p.Child("secretName"), s.AzureFile.SecretName)
			v.need(p.Child("shareName"), s.AzureFile.ShareName)
		}},
		{"vsphereVolume", s.VsphereVolume != nil, func(p *field.Path) { v.need(p.Child("volumePath"), s.VsphereVolume.VolumePath) }},
		{"photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p *field.Path) { v.need(p.Child("pdID"), s.PhotonPersistentDisk.PdID) }},
		{"portworxVolume", s.PortworxVolume != nil, func(p *field.Path) { v.need(p.Child("volumeID"), s.PortworxVolume.VolumeID) }},
		{"azureDisk", s.AzureDisk != nil, func(p *field.Path) {
			v.need(p.Child("diskName"), s.AzureDisk.DiskName)
			v.need(p.Child("diskURI"), s.AzureDisk.DataDiskURI)
		}},
		{"storageos", s.StorageOS != nil, nil},
		{"projected", s.Projected != nil, func(p *field.Path) { v.projected(p, s.Projected) }},
		{"scaleIO", s.ScaleIO != nil, func(p *field.Path) {
			v.need(p.Child("gateway"), s.ScaleIO.Gateway)
			v.need(p.Child("system"), s.ScaleIO.System)
			v.need(p.Child("volumeName"), s.ScaleIO.VolumeName)
		}},
		{"csi", s.CSI != nil, func(p *field.Path) {
			CSIDriverName(v.Faults, p.Child("driver"), s.CSI.Driver)
			if r := s.CSI.NodePublishSecretRef; r != nil {
				v.need(p.Child("nodePublishSecretRef", "name"), r.Name)
			}
		}},
		{"ephemeral", s.Ephemeral != nil, func(p *field.Path) {
			p = p.Child("volumeClaimTemplate")
			if s.Ephemeral.VolumeClaimTemplate == nil {
				v.Required(p, "")
			} else {
				claimTemplate(v.Faults, p, s.Ephemeral.VolumeClaimTemplate)
			}
		}},
		{"image", s.Image != nil, func(p *field.Path) {
			if v.isPod {
				v.need(p.Child("reference"), s.Image.Reference)
			}
			check.OneOf(v.Faults, p.Child("pullPolicy"), s.Image.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
		}},
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (v *validator) need(p *field.Path, s string) {
	if s == "" {
		v.Required(p, "")
	}
}

func (v *validator) items(p *field.Path, items []corev1.KeyToPath) {
	for i := range items {
		v.item(p.Index(i), &items[i])
	}
}

func (v *validator) item(p *field.Path, k *corev1.KeyToPath) {
	v.need(p.Child("key"), k.Key)
	v.need(p.Child("path"), k.Path)
	v.FilePath(p.Child("path"), k.Path)
	v.FileMode(p.Child("mode"), k.Mode)
}

var volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

func (v *validator) downwardFile(p *field.Path, d *corev1.DownwardAPIVolumeFile) {
	v.need(p.Child("path"), d.Path)
	v.FilePath(p.Child("path"), d.Path)
	switch {
	case d.FieldRef != nil:
		fieldRef(v.Faults, p.Child("fieldRef"), d.FieldRef, volumeFields)
		if d.ResourceFieldRef != nil {
			v.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case d.ResourceFieldRef != nil:
		resourceFieldRef(v.Faults, p.Child("resourceFieldRef"), d.ResourceFieldRef, true)
	default:
		v.Required(p, "one of fieldRef and resourceFieldRef is required")
	}
	v.FileMode(p.Child("mode"), d.Mode)
}

// HostPath reports the faults of a path on the node.
func HostPath(f *check.Faults, p *field.Path, h *corev1.HostPathVolumeSource) {
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

// NFS reports the faults of an NFS export.
func NFS(f *check.Faults, p *field.Path, n *corev1.NFSVolumeSource) {
	if n.Server == "" {
		f.Required(p.Child("server"), "")
	}
	if n.Path == "" {
		f.Required(p.Child("path"), "")
	} else if !strings.HasPrefix(n.Path, "/") {
		f.Invalid(p.Child("path"), n.Path, "must be an absolute path")
	}
}

// CSIDriverName wants the name of a CSI driver.
func CSIDriverName(f *check.Faults, p *field.Path, name string) {
	if name == "" {
		f.Required(p, "")
		return
	}
	if len(name) > 63 {
		f.Add(field.TooLong(p, "", 63))
	}
	f.Each(p, name, validation.IsDNS1123Subdomain(strings.ToLower(name)))
}

// FlexVolume reports the faults of a volume of someone else's driver.
func FlexVolume(f *check.Faults, p *field.Path, driver string, options map[string]string) {
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

// Disk checks a numbered partition of a cloud disk, whose id is in the field name.
func Disk(f *check.Faults, p *field.Path, name, id string, partition int32) {
	if id == "" {
		f.Required(p.Child(name), "")
	}
	if partition < 0 || partition > 255 {
		f.Invalid(p.Child("partition"), partition, validation.InclusiveRangeError(1, 255))
	}
}

// first says whether no source is set that is looked at before ephemeral.
func first(s *corev1.VolumeSource) bool {
	rest := *s
	rest.Ephemeral, rest.Image = nil, nil
	return rest == corev1.VolumeSource{}
}
