// Package intree knows the volume plugins that were once part of Kubernetes and that CSI drivers have replaced.
package intree

import corev1 "k8s.io/api/core/v1"

// Prefix is that of the plugins' names. kubernetes.io/no-provisioner, the name of no plugin, is for classes whose volumes
// are all created by hand.
const Prefix = "kubernetes.io/"

const (
	awsEBS    = Prefix + "aws-ebs"
	azureDisk = Prefix + "azure-disk"
	azureFile = Prefix + "azure-file"
	cinder    = Prefix + "cinder"
	gcePD     = Prefix + "gce-pd"
	portworx  = Prefix + "portworx-volume"
	vSphere   = Prefix + "vsphere-volume"
)

var drivers = map[string]string{
	awsEBS:    "ebs.csi.aws.com",
	azureDisk: "disk.csi.azure.com",
	azureFile: "file.csi.azure.com",
	cinder:    "cinder.csi.openstack.org",
	gcePD:     "pd.csi.storage.gke.io",
	portworx:  "pxd.portworx.com",
	vSphere:   "csi.vsphere.vmware.com",
}

// Driver returns the name of the CSI driver that has replaced a plugin, "" for a name that is not in the list.
func Driver(plugin string) string { return drivers[plugin] }

// Plugin returns the name of the replaced plugin of a volume, "" for a volume of any other kind.
func Plugin(v *corev1.PersistentVolume) string {
	switch s := &v.Spec; {
	case s.AWSElasticBlockStore != nil:
		return awsEBS
	case s.AzureDisk != nil:
		return azureDisk
	case s.AzureFile != nil:
		return azureFile
	case s.Cinder != nil:
		return cinder
	case s.GCEPersistentDisk != nil:
		return gcePD
	case s.PortworxVolume != nil:
		return portworx
	case s.VsphereVolume != nil:
		return vSphere
	}
	return ""
}
