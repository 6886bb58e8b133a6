package admission

import (
	"hash/fnv"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

const (
	tokenVolume = "kube-api-access-"
	tokenPath   = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// mountToken mounts a token at the usual path into every container without a mount there. It adds the volume if a
// container needs it.
func mountToken(pod *corev1.Pod) {
	name, there := "", false
	for _, v := range pod.Spec.Volumes {
		if strings.HasPrefix(v.Name, tokenVolume) {
			name, there = v.Name, true
			break
		}
	}
	if !there {
		name = tokenVolume + suffixFor(pod)
	}
	needed := false
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			if !mountsAt(c, tokenPath) {
				c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenPath})
				needed = true
			}
		}
	}
	if needed && !there {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: tokenSources()}})
	}
}

// suffixFor returns the five letters or digits at the end of the volume's name. In kube-apiserver they are random in each pod. Here
// the pods of one controller have the same ones, because equal containers and volumes are held in memory once.
func suffixFor(pod *corev1.Pod) string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return rand.String(5)
	}
	h := fnv.New64a()
	h.Write([]byte(owner.UID))
	return rand.SafeEncodeString(strconv.FormatUint(h.Sum64()%1e5+1e5, 10)[1:])
}

func mountsAt(c *corev1.Container, path string) bool {
	for _, m := range c.VolumeMounts {
		if m.MountPath == path {
			return true
		}
	}
	return false
}

// tokenSources returns the files of the volume: a token, the CA of the API server, and the pod's namespace.
func tokenSources() *corev1.ProjectedVolumeSource {
	mode, seconds := int32(0o644), int64(60*60+7)
	return &corev1.ProjectedVolumeSource{
		DefaultMode: &mode,
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: &seconds}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "namespace",
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}
}
