package nodes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/poduses"
)

// Reference returns the resource of the first API object that a pod refers to, "" if it refers to none. Static pods may
// not refer to any. A volume of an unknown type is an error, because it may refer to one.
func Reference(p *corev1.Pod) (string, error) {
	switch {
	case p.Spec.ServiceAccountName != "":
		return "serviceaccounts", nil
	case len(poduses.Secrets(p)) > 0:
		return "secrets", nil
	case len(poduses.ConfigMaps(p)) > 0:
		return "configmaps", nil
	case len(p.Spec.ResourceClaims) > 0:
		return "resourceclaims", nil
	}
	for _, v := range p.Spec.Volumes {
		if what, err := volumeReference(v); what != "" || err != nil {
			return what, err
		}
	}
	return "", nil
}

// volumeReference is Reference for a volume.
func volumeReference(v corev1.Volume) (string, error) {
	switch {
	case local(v.VolumeSource):
		return "", nil
	case v.ConfigMap != nil:
		return "configmaps (via configmap volumes)", nil
	case v.Secret != nil:
		return "secrets (via secret volumes)", nil
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)", nil
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)", nil
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims", nil
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)", nil
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)", nil
	case v.Projected == nil:
		return "", fmt.Errorf("unknown volume type for volume  %q", v.Name)
	}
	for _, s := range v.Projected.Sources {
		if what := projectedReference(s); what != "" {
			return what, nil
		}
		if s.DownwardAPI == nil {
			return "", fmt.Errorf("unknown source for projected volume %q", v.Name)
		}
	}
	return "", nil
}

func projectedReference(s corev1.VolumeProjection) string {
	switch {
	case s.ConfigMap != nil:
		return "configmaps (via projected volumes)"
	case s.Secret != nil:
		return "secrets (via projected volumes)"
	case s.ServiceAccountToken != nil:
		return "serviceaccounts (via projected volumes)"
	case s.ClusterTrustBundle != nil:
		return "clustertrustbundles"
	case s.PodCertificate != nil:
		return "podcertificates"
	}
	return ""
}

// local reports whether a kubelet can mount the volume by the pod alone.
func local(v corev1.VolumeSource) bool {
	return v.AWSElasticBlockStore != nil || v.AzureDisk != nil || v.CephFS != nil || v.Cinder != nil || v.DownwardAPI != nil ||
		v.EmptyDir != nil || v.FC != nil || v.FlexVolume != nil || v.Flocker != nil || v.GCEPersistentDisk != nil ||
		v.GitRepo != nil || v.HostPath != nil || v.Image != nil || v.ISCSI != nil || v.NFS != nil ||
		v.PhotonPersistentDisk != nil || v.PortworxVolume != nil || v.Quobyte != nil || v.RBD != nil || v.ScaleIO != nil ||
		v.StorageOS != nil || v.VsphereVolume != nil
}
