package dependencies

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Volumes returns a kubelet's message for each volume of a pod that cannot be mounted.
func Volumes(pod *corev1.Pod, find Find) (messages []string) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		m, err := csi(pod, v, find)
		if err != nil {
			messages = append(messages, fmt.Sprintf("Unable to attach or mount volumes: unmounted volumes=[%s], unattached volumes=[], failed to process volumes=[%s]: %v", v.Name, v.Name, err))
		} else if err := m.ready(pod, find); err != nil {
			messages = append(messages, err.Error())
		} else if err := content(pod, v, find); err != nil {
			messages = append(messages, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", v.Name, err))
		}
	}
	return messages
}

// content returns the error about the objects that fill a volume.
func content(pod *corev1.Pod, v *corev1.Volume, find Find) error {
	switch {
	case v.ConfigMap != nil:
		return files(find, Key{ConfigMap, pod.Namespace, v.ConfigMap.Name}, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return files(find, Key{Secret, pod.Namespace, v.Secret.SecretName}, v.Secret.Items, v.Secret.Optional)
	case v.Projected == nil || isToken(v):
		return nil
	}
	var errs []error
	for i, s := range v.Projected.Sources {
		var err error
		switch {
		case s.ConfigMap != nil:
			err = files(find, Key{ConfigMap, pod.Namespace, s.ConfigMap.Name}, s.ConfigMap.Items, s.ConfigMap.Optional)
		case s.Secret != nil:
			err = files(find, Key{Secret, pod.Namespace, s.Secret.Name}, s.Secret.Items, s.Secret.Optional)
		case s.ClusterTrustBundle != nil:
			err = anchors(s.ClusterTrustBundle, find)
		case s.PodCertificate != nil:
			err = issued(find, certificateKey(pod, v, i))
		}
		errs = append(errs, err)
	}
	if all := utilerrors.NewAggregate(errs); all != nil {
		return all
	}
	return nil
}

// files returns the error about the keys of an object that become files.
func files(find Find, key Key, items []corev1.KeyToPath, optional *bool) error {
	all, err := valuesOf(find, key, optional)
	if err != nil || isTrue(optional) {
		return err
	}
	for _, item := range items {
		switch {
		case all.has(item.Key):
		case key.Kind == Secret:
			return fmt.Errorf("references non-existent secret key: %s", item.Key)
		default:
			return fmt.Errorf("configmap references non-existent config key: %s", item.Key)
		}
	}
	return nil
}

// claim returns the claim of a volume, nil for a volume without one, or why it cannot be used.
func claim(pod *corev1.Pod, v *corev1.Volume, find Find) (*corev1.PersistentVolumeClaim, error) {
	key := Key{Claim, pod.Namespace, claimName(pod, v)}
	if key.Name == "" {
		return nil, nil
	}
	say := func(err any) (*corev1.PersistentVolumeClaim, error) {
		return nil, fmt.Errorf("error processing PVC %s/%s: %v", key.Namespace, key.Name, err)
	}
	obj, err := find(key)
	if err != nil {
		return say(err)
	}
	c := obj.(*corev1.PersistentVolumeClaim)
	switch {
	case c.DeletionTimestamp != nil && !slices.Contains(c.Finalizers, "kubernetes.io/pvc-protection"):
		return say("PVC is being deleted")
	case c.Status.Phase != corev1.ClaimBound || c.Spec.VolumeName == "":
		return say("PVC is not bound")
	case v.Ephemeral != nil && !metav1.IsControlledBy(c, pod):
		return nil, fmt.Errorf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", c.Namespace, c.Name, pod.Namespace, pod.Name)
	}
	return c, nil
}
