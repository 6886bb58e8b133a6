package core

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

func volumeSource(f *check.Errors, p *check.Path, v *corev1.PersistentVolume, pinned bool) {
	s, n := &v.Spec.PersistentVolumeSource, 0
	one := func(name string, set bool, look func(p *check.Path)) {
		if !set {
			return
		}
		if n++; n > 1 {
			f.Forbidden(p.Child(name), "may not specify more than 1 volume type")
		} else if look != nil {
			look(p.Child(name))
		}
	}
	need := func(p *check.Path, value string) {
		if value == "" {
			f.Required(p, "")
		}
	}
	some := func(p *check.Path, values []string) {
		if len(values) == 0 {
			f.Required(p, "")
		}
	}
	one("hostPath", s.HostPath != nil, func(p *check.Path) { podspec.HostPath(f, p, s.HostPath) })
	one("gcePersistentDisk", s.GCEPersistentDisk != nil, func(*check.Path) {
		podspec.Disk(f, p.Child("persistentDisk"), "pdName", s.GCEPersistentDisk.PDName, s.GCEPersistentDisk.Partition)
	})
	one("awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p *check.Path) {
		podspec.Disk(f, p, "volumeID", s.AWSElasticBlockStore.VolumeID, s.AWSElasticBlockStore.Partition)
	})
	one("glusterfs", s.Glusterfs != nil, func(p *check.Path) {
		need(p.Child("endpoints"), s.Glusterfs.EndpointsName)
		need(p.Child("path"), s.Glusterfs.Path)
		if ns := s.Glusterfs.EndpointsNamespace; ns != nil && *ns == "" {
			f.Invalid(p.Child("endpointsNamespace"), *ns, "if the endpointnamespace is set, it must be a valid namespace name")
		} else if ns != nil {
			f.Label(p.Child("endpointsNamespace"), *ns)
		}
	})
	one("flocker", s.Flocker != nil, func(p *check.Path) { podspec.Flocker(f, p, s.Flocker) })
	one("nfs", s.NFS != nil, func(p *check.Path) { podspec.NFS(f, p, s.NFS) })
	one("rbd", s.RBD != nil, func(p *check.Path) {
		some(p.Child("monitors"), s.RBD.CephMonitors)
		need(p.Child("image"), s.RBD.RBDImage)
	})
	one("quobyte", s.Quobyte != nil, func(p *check.Path) { podspec.Quobyte(f, p, s.Quobyte) })
	one("cephFS", s.CephFS != nil, func(*check.Path) { some(p.Child("cephfs", "monitors"), s.CephFS.Monitors) })
	one("iscsi", s.ISCSI != nil, func(p *check.Path) { podspec.PersistentISCSI(f, p, s.ISCSI, v.Name) })
	one("cinder", s.Cinder != nil, func(p *check.Path) {
		need(p.Child("volumeID"), s.Cinder.VolumeID)
		if r := s.Cinder.SecretRef; r != nil {
			need(p.Child("secretRef", "name"), r.Name)
			need(p.Child("secretRef", "namespace"), r.Namespace)
		}
	})
	one("fc", s.FC != nil, func(p *check.Path) { podspec.FC(f, p, s.FC) })
	if s.FlexVolume != nil { // the only source allowed beside another
		n++
		podspec.FlexVolume(f, p.Child("flexVolume"), s.FlexVolume.Driver, s.FlexVolume.Options)
	}
	one("azureFile", s.AzureFile != nil, func(p *check.Path) {
		need(p.Child("secretName"), s.AzureFile.SecretName)
		need(p.Child("shareName"), s.AzureFile.ShareName)
		if ns := s.AzureFile.SecretNamespace; ns != nil {
			need(p.Child("secretNamespace"), *ns)
		}
	})
	one("vsphereVolume", s.VsphereVolume != nil, func(p *check.Path) { need(p.Child("volumePath"), s.VsphereVolume.VolumePath) })
	one("photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p *check.Path) { need(p.Child("pdID"), s.PhotonPersistentDisk.PdID) })
	one("portworxVolume", s.PortworxVolume != nil, func(p *check.Path) { need(p.Child("volumeID"), s.PortworxVolume.VolumeID) })
	one("azureDisk", s.AzureDisk != nil, func(p *check.Path) { podspec.AzureDisk(f, p, s.AzureDisk) })
	one("scaleIO", s.ScaleIO != nil, func(p *check.Path) {
		need(p.Child("gateway"), s.ScaleIO.Gateway)
		need(p.Child("system"), s.ScaleIO.System)
		need(p.Child("volumeName"), s.ScaleIO.VolumeName)
	})
	one("local", s.Local != nil, func(at *check.Path) {
		if s.Local.Path == "" {
			f.Required(at.Child("path"), "")
		} else {
			f.NoBacksteps(at.Child("path"), s.Local.Path)
		}
		if !pinned {
			f.Required(p.Child("nodeAffinity"), "Local volume requires node affinity")
		}
	})
	one("storageos", s.StorageOS != nil, func(p *check.Path) {
		podspec.StorageOS(f, p, s.StorageOS.VolumeName, s.StorageOS.VolumeNamespace)
		if r := s.StorageOS.SecretRef; r != nil {
			need(p.Child("secretRef", "name"), r.Name)
			need(p.Child("secretRef", "namespace"), r.Namespace)
		}
	})
	one("csi", s.CSI != nil, func(p *check.Path) { csiSource(f, p, s.CSI) })
	if n == 0 {
		f.Required(p, "must specify a volume type")
	}
}

func csiSource(f *check.Errors, p *check.Path, c *corev1.CSIPersistentVolumeSource) {
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
