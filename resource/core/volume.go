package core

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/resource"
	"fairlead.dev/resource/check"
	"fairlead.dev/resource/podspec"
)

var volumeTable = resource.TableOf(volumeRow,
	resource.NameColumn,
	resource.Text("Capacity", "The volume's size."),
	resource.Text("Access Modes", "How the volume can be mounted."),
	resource.Text("Reclaim Policy", "What becomes of the volume when its claim is gone."),
	resource.Text("Status", "Whether the volume is available, bound or released."),
	resource.Text("Claim", "The claim that has the volume."),
	resource.Text("StorageClass", "The class of storage the volume belongs to."),
	resource.Text("VolumeAttributesClass", "The class of attributes the volume has."),
	resource.Text("Reason", "Why the volume is in its state."),
	resource.AgeColumn,
	resource.Wide(resource.Text("VolumeMode", "Whether the volume is a file system or a block device.")),
)

func volumeRow(v *corev1.PersistentVolume) []any {
	claim := ""
	if r := v.Spec.ClaimRef; r != nil {
		claim = r.Namespace + "/" + r.Name
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	return []any{
		v.Name, size.String(), accessModes(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy),
		unlessTerminating(v, string(v.Status.Phase)), claim,
		storageClass(v, v.Spec.StorageClassName),
		ptr.Deref(v.Spec.VolumeAttributesClassName, resource.Unset),
		v.Status.Reason, resource.AgeOf(v), volumeMode(v.Spec.VolumeMode),
	}
}

func unlessTerminating(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func volumeMode(m *corev1.PersistentVolumeMode) string {
	if m == nil {
		return resource.Unset
	}
	return string(*m)
}

// storageClass is the class by its old annotation, or else by its field.
func storageClass(obj metav1.Object, name string) string {
	if class, ok := obj.GetAnnotations()[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return name
}

// accessModes words the modes in their usual order: "RWO,ROX,RWX,RWOP".
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var words []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		word string
	}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}} {
		if slices.Contains(modes, m.mode) {
			words = append(words, m.word)
		}
	}
	return strings.Join(words, ",")
}

func volumeStrategy() resource.Strategy {
	r := resource.Split(func(v *corev1.PersistentVolume) (*corev1.PersistentVolumeSpec, *corev1.PersistentVolumeStatus) {
		return &v.Spec, &v.Status
	})
	r.Default = defaultVolume
	r.PrepareForCreate = func(v *corev1.PersistentVolume) {
		v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: ptr.To(metav1.Now())}
	}
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(v, old *corev1.PersistentVolume) {
		keep(v, old)
		now, was := v.Status.LastPhaseTransitionTime, old.Status.LastPhaseTransitionTime
		if v.Status.Phase != old.Status.Phase && (now == nil || was != nil && now.Equal(was)) {
			v.Status.LastPhaseTransitionTime = ptr.To(metav1.Now())
		}
	}
	r.Validate = validateVolume
	r.ValidateUpdate = validateVolumeUpdate
	return r.Strategy()
}

func defaultVolume(v *corev1.PersistentVolume) {
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	s := &v.Spec
	if s.PersistentVolumeReclaimPolicy == "" {
		s.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	if s.VolumeMode == nil {
		s.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	podspec.RoundUp(s.Capacity)
	podspec.DefaultVolumeSource(&s.PersistentVolumeSource)
}

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	var f check.Faults
	p, s := field.NewPath("spec"), &v.Spec
	if len(s.AccessModes) == 0 {
		f.Required(p.Child("accessModes"), "")
	}
	podspec.AccessModes(&f, p.Child("accessModes"), s.AccessModes)
	if len(s.Capacity) == 0 {
		f.Required(p.Child("capacity"), "")
	}
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		f.Add(field.NotSupported(p.Child("capacity"), s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, name := range check.Names(s.Capacity) {
		q := s.Capacity[name]
		if q.Sign() <= 0 {
			f.Invalid(p.Child("capacity").Key(string(name)), q.String(), "must be greater than zero")
		}
		if q.Value() < 0 {
			f.Invalid(p.Child("capacity").Key(string(name)), q.Value(), "must be a valid resource quantity")
		}
	}
	if s.PersistentVolumeReclaimPolicy != "" {
		check.Known(&f, p.Child("persistentVolumeReclaimPolicy"), s.PersistentVolumeReclaimPolicy,
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)
	}
	pinned := s.NodeAffinity != nil && s.NodeAffinity.Required != nil
	if s.NodeAffinity != nil {
		at := p.Child("nodeAffinity", "required")
		if pinned {
			podspec.NodeSelector(&f, at, s.NodeAffinity.Required)
		} else {
			f.Required(at, "must specify required node constraints")
		}
	}
	volumeSource(&f, p, v, pinned)
	if h := s.HostPath; h != nil && path.Clean(h.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		f.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")
	}
	if s.StorageClassName != "" {
		f.Subdomain(p.Child("storageClassName"), s.StorageClassName)
	}
	podspec.VolumeMode(&f, p.Child("volumeMode"), s.VolumeMode)
	if c := s.VolumeAttributesClassName; c != nil {
		if *c == "" {
			f.Required(p.Child("volumeAttributesClassName"), "an empty string is disallowed")
		} else {
			f.Subdomain(p.Child("volumeAttributesClassName"), *c)
		}
		if s.CSI == nil {
			f.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName")
		}
	}
	return f.List()
}

func volumeSource(f *check.Faults, p *field.Path, v *corev1.PersistentVolume, pinned bool) {
	s, n := &v.Spec.PersistentVolumeSource, 0
	one := func(name string, set bool, look func(p *field.Path)) {
		if !set {
			return
		}
		if n++; n > 1 {
			f.Forbidden(p.Child(name), "may not specify more than 1 volume type")
		} else if look != nil {
			look(p.Child(name))
		}
	}
	need := func(p *field.Path, value string) {
		if value == "" {
			f.Required(p, "")
		}
	}
	one("hostPath", s.HostPath != nil, func(p *field.Path) { podspec.HostPath(f, p, s.HostPath) })
	one("gcePersistentDisk", s.GCEPersistentDisk != nil, func(*field.Path) {
		podspec.Disk(f, p.Child("persistentDisk"), "pdName", s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.Partition)
	})
	one("awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p *field.Path) {
		podspec.Disk(f, p, "volumeID", s.AWSElasticBlockStore.VolumeID, s.AWSElasticBlockStore.Partition)
	})
	one("glusterfs", s.Glusterfs != nil, func(p *field.Path) {
		need(p.Child("endpoints"), s.Glusterfs.EndpointsName)
		need(p.Child("path"), s.Glusterfs.Path)
		if ns := s.Glusterfs.EndpointsNamespace; ns != nil && *ns == "" {
			f.Invalid(p.Child("endpointsNamespace"), *ns, "if the endpointnamespace is set, it must be a valid namespace name")
		} else if ns != nil {
			f.Label(p.Child("endpointsNamespace"), *ns)
		}
	})
	one("flocker", s.Flocker != nil, nil)
	one("nfs", s.NFS != nil, func(p *field.Path) { podspec.NFS(f, p, s.NFS) })
	one("rbd", s.RBD != nil, func(p *field.Path) { need(p.Child("image"), s.RBD.RBDImage) })
	one("quobyte", s.Quobyte != nil, nil)
	one("cephFS", s.CephFS != nil, nil)
	one("iscsi", s.ISCSI != nil, func(p *field.Path) { need(p.Child("targetPortal"), s.ISCSI.TargetPortal) })
	one("cinder", s.Cinder != nil, func(p *field.Path) { need(p.Child("volumeID"), s.Cinder.VolumeID) })
	one("fc", s.FC != nil, nil)
	if s.FlexVolume != nil { // the one source that may stand beside another
		n++
		podspec.FlexVolume(f, p.Child("flexVolume"), s.FlexVolume.Driver, s.FlexVolume.Options)
	}
	one("azureFile", s.AzureFile != nil, func(p *field.Path) { need(p.Child("shareName"), s.AzureFile.ShareName) })
	one("vsphereVolume", s.VsphereVolume != nil, func(p *field.Path) { need(p.Child("volumePath"), s.VsphereVolume.VolumePath) })
	one("photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p *field.Path) { need(p.Child("pdID"), s.PhotonPersistentDisk.PdID) })
	one("portworxVolume", s.PortworxVolume != nil, func(p *field.Path) { need(p.Child("volumeID"), s.PortworxVolume.VolumeID) })
	one("azureDisk", s.AzureDisk != nil, func(p *field.Path) { need(p.Child("diskName"), s.AzureDisk.DiskName) })
	one("scaleIO", s.ScaleIO != nil, nil)
	one("local", s.Local != nil, func(at *field.Path) {
		if s.Local.Path == "" {
			f.Required(at.Child("path"), "")
		} else {
			f.NoBacksteps(at.Child("path"), s.Local.Path)
		}
		if !pinned {
			f.Required(p.Child("nodeAffinity"), "Local volume requires node affinity")
		}
	})
	one("storageos", s.StorageOS != nil, nil)
	one("csi", s.CSI != nil, func(p *field.Path) { csiSource(f, p, s.CSI) })
	if n == 0 {
		f.Required(p, "must specify a volume type")
	}
}

func csiSource(f *check.Faults, p *field.Path, c *corev1.CSIPersistentVolumeSource) {
	podspec.CSIDriverName(f, p.Child("driver"), c.Driver)
	if c.VolumeHandle == "" {
		f.Required(p.Child("volumeHandle"), "")
	}
	secret := func(name string, r *corev1.SecretReference) {
		if r == nil {
			return
		}
		at := p.Child(name)
		if r.Name == "" {
			f.Required(at.Child("name"), "")
		} else {
			f.Subdomain(at.Child("name"), r.Name)
		}
		if r.Namespace == "" {
			f.Required(at.Child("namespace"), "")
		} else {
			f.Label(at.Child("namespace"), r.Namespace)
		}
	}
	secret("controllerPublishSecretRef", c.ControllerPublishSecretRef)
	secret("controllerExpandSecretRef", c.ControllerExpandSecretRef)
	secret("nodePublishSecretRef", c.NodePublishSecretRef)
	secret("nodeExpandSecretRef", c.NodeExpandSecretRef)
}

func validateVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	var f check.Faults
	f.Add(validateVolume(v)...)
	now, was := v.Spec.PersistentVolumeSource.DeepCopy(), &old.Spec.PersistentVolumeSource
	if now.CSI != nil && was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil {
		now.CSI.ControllerExpandSecretRef = nil // may be added later
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		f.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			fmt.Sprintf("spec.persistentvolumesource is immutable after creation\n%v", diff.Diff(*was, *now)))
	}
	f.Same(field.NewPath("volumeMode"), v.Spec.VolumeMode, old.Spec.VolumeMode)
	if old.Spec.NodeAffinity != nil {
		f.Same(field.NewPath("nodeAffinity"), v.Spec.NodeAffinity, old.Spec.NodeAffinity)
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		f.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden")
	}
	return f.List()
}
