package nodes

import corev1 "k8s.io/api/core/v1"

// Reference returns the resource of the first API object that a pod refers to, or "". Static pods may
// not refer to any.
func Reference(p *corev1.Pod) string {
	switch {
	case p.Spec.ServiceAccountName != "":
		return "serviceaccounts"
	case len(secrets(p)) > 0:
		return "secrets"
	case len(configMaps(p)) > 0:
		return "configmaps"
	case len(p.Spec.ResourceClaims) > 0:
		return "resourceclaims"
	}
	for _, v := range p.Spec.Volumes {
		switch {
		case v.CSI != nil:
			return "csidrivers (via CSI volumes)"
		case v.Glusterfs != nil:
			return "endpoints (via glusterFS volumes)"
		case v.PersistentVolumeClaim != nil:
			return "persistentvolumeclaims"
		case v.Ephemeral != nil:
			return "persistentvolumeclaims (via ephemeral volumes)"
		case v.Projected != nil:
			for _, s := range v.Projected.Sources {
				switch {
				case s.ServiceAccountToken != nil:
					return "serviceaccounts (via projected volumes)"
				case s.ClusterTrustBundle != nil:
					return "clustertrustbundles"
				}
			}
		}
	}
	return ""
}
