package dependencies

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// Kind of an object that pods use.
type Kind uint8

// The kinds.
const (
	ConfigMap Kind = iota
	Secret
	Claim
	Volume      // a PersistentVolume
	Driver      // a CSIDriver
	NodeDrivers // a CSINode
	Attachment  // a VolumeAttachment
	Bundle      // a ClusterTrustBundle
	Signer      // all ClusterTrustBundles of the signer that the key names
	ResourceClaim
	Certificate // the PodCertificateRequest for a source of a volume, which is made for the key
)

func (k Kind) String() string {
	return [...]string{"configmap", "secret", "persistentvolumeclaim", "persistentvolume", "csidriver.storage.k8s.io", "csinode.storage.k8s.io",
		"volumeattachments.storage.k8s.io", "clustertrustbundle.certificates.k8s.io", "clustertrustbundle.certificates.k8s.io",
		"resourceclaims.resource.k8s.io", "podcertificaterequest.certificates.k8s.io"}[k]
}

// Key names an object.
type Key struct {
	Kind            Kind
	Namespace, Name string
}

// Find returns the object of a key: a *corev1.ConfigMap, *corev1.Secret and so on, for a Signer a
// []*certificatesv1.ClusterTrustBundle, and for a Certificate a *certificatesv1.PodCertificateRequest. The error for a missing object is NotFound; any other means that
// its existence is not known.
type Find func(Key) (any, error)

// NotFound is the error for an object that does not exist.
type NotFound Key

func (e NotFound) Error() string {
	if e.Kind == Claim {
		return fmt.Sprintf("failed to fetch PVC from API server: persistentvolumeclaims %q not found", e.Name)
	}
	return fmt.Sprintf("%s %q not found", e.Kind, e.Name)
}

// Errors keep a pod from starting: messages about volumes that cannot be mounted, the message about a ResourceClaim
// that is not ready, "" if all are, and the configuration errors of containers, by name.
type Errors struct {
	Mounts     []string
	Overdue    string // the message for when the kubelet has waited long enough
	Claims     string
	Containers map[string]string
}

// Of returns the objects that a pod uses on its node, each once, including optional ones. Some are known only once
// find returns others.
func Of(pod *corev1.Pod, find Find) (keys []Key) {
	add := func(kind Kind, name string) {
		key := Key{kind, pod.Namespace, name}
		if kind > Claim && kind != ResourceClaim && kind != Certificate {
			key.Namespace = ""
		}
		if name != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	environment := func(c *corev1.Container) {
		for i := range c.EnvFrom {
			if r := c.EnvFrom[i].ConfigMapRef; r != nil {
				add(ConfigMap, r.Name)
			}
			if r := c.EnvFrom[i].SecretRef; r != nil {
				add(Secret, r.Name)
			}
		}
		for i := range c.Env {
			if from := c.Env[i].ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
				add(ConfigMap, from.ConfigMapKeyRef.Name)
			} else if from != nil && from.SecretKeyRef != nil {
				add(Secret, from.SecretKeyRef.Name)
			}
		}
	}
	for name := range resourceclaim.PodClaims(pod) {
		add(ResourceClaim, name)
	}
	for i := range pod.Spec.InitContainers {
		environment(&pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		environment(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.Volumes {
		for _, key := range driverKeys(pod, &pod.Spec.Volumes[i], find) {
			add(key.Kind, key.Name)
		}
		switch v := &pod.Spec.Volumes[i]; {
		case v.ConfigMap != nil:
			add(ConfigMap, v.ConfigMap.Name)
		case v.Secret != nil:
			add(Secret, v.Secret.SecretName)
		case claimName(pod, v) != "":
			add(Claim, claimName(pod, v))
		case v.Projected != nil && !isToken(v):
			for j, s := range v.Projected.Sources {
				if s.PodCertificate != nil {
					add(Certificate, certificateKey(pod, v, j).Name)
				}
				if s.ConfigMap != nil {
					add(ConfigMap, s.ConfigMap.Name)
				}
				if s.Secret != nil {
					add(Secret, s.Secret.Name)
				}
				if b := s.ClusterTrustBundle; b != nil && b.Name != nil {
					add(Bundle, *b.Name)
				} else if b != nil && b.SignerName != nil {
					add(Signer, *b.SignerName)
				}
			}
		}
	}
	return keys
}

// isToken reports whether a volume is the one with the token of the pod's service account, which the server adds.
func isToken(v *corev1.Volume) bool {
	return strings.HasPrefix(v.Name, "kube-api-access-") && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
		return s.ServiceAccountToken != nil
	})
}

// UsesClaim reports whether a volume of the pod is that of a claim in its namespace.
func UsesClaim(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return claimName(pod, &v) == claim })
}

// claimName returns the name of the claim of a volume, "" for a volume without one.
func claimName(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

func isTrue(b *bool) bool { return b != nil && *b }
