package nodes

import (
	"bytes"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/watchcache"
)

// find returns an object, nil if it does not exist.
func (q question) find(gr schema.GroupResource, namespace, name string) (runtime.Object, error) {
	obj, err := q.z.Lookup.Get(q.ctx, gr, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// asked returns the object that the request names, nil if it does not exist.
func (q question) asked() (runtime.Object, error) {
	return q.find(schema.GroupResource{Group: q.a.Group, Resource: q.a.Resource}, q.a.Namespace, q.a.Name)
}

func (q question) hasAttachment() (bool, error) {
	obj, err := q.asked()
	a, ok := obj.(*storagev1.VolumeAttachment)
	return ok && a.Spec.NodeName == q.node, err
}

func (q question) hasSlice() (bool, error) {
	obj, err := q.asked()
	s, ok := obj.(*resourcev1.ResourceSlice)
	return ok && s.Spec.NodeName != nil && *s.Spec.NodeName == q.node, err
}

func (q question) hasPodCertificate() (bool, error) {
	obj, err := q.asked()
	r, ok := obj.(*certificatesv1.PodCertificateRequest)
	return ok && string(r.Spec.NodeName) == q.node, err
}

// hasVolume reports whether the persistent volume is bound to a claim of a pod of the node.
func (q question) hasVolume() (bool, error) {
	obj, err := q.asked()
	v, ok := obj.(*corev1.PersistentVolume)
	if !ok || v.Spec.ClaimRef == nil {
		return false, err
	}
	return q.refersTo(claimRef, v.Spec.ClaimRef.Namespace, v.Spec.ClaimRef.Name)
}

// mountsWith reports whether the Secret is needed to mount a volume of a pod of the node.
func (q question) mountsWith() (bool, error) {
	return q.anyPod("", func(o *watchcache.Object) (bool, error) {
		list, err := o.Encoding(refs, references)
		if err != nil || !bytes.Contains(list, []byte("\n"+claimRef+" ")) {
			return false, err
		}
		for l := range strings.Lines(string(list)) {
			name, ok := strings.CutPrefix(strings.TrimSuffix(l, "\n"), claimRef+" ")
			if !ok {
				continue
			}
			if has, err := q.mountedWith(o.Namespace(), name); has || err != nil {
				return has, err
			}
		}
		return false, nil
	})
}

// mountedWith reports whether the Secret is needed to mount the volume of a claim.
func (q question) mountedWith(namespace, claim string) (bool, error) {
	obj, err := q.find(schema.GroupResource{Resource: "persistentvolumeclaims"}, namespace, claim)
	c, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok || c.Spec.VolumeName == "" {
		return false, err
	}
	obj, err = q.find(schema.GroupResource{Resource: "persistentvolumes"}, "", c.Spec.VolumeName)
	v, ok := obj.(*corev1.PersistentVolume)
	if !ok || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.Namespace != namespace || v.Spec.ClaimRef.Name != claim {
		return false, err
	}
	for _, s := range mountSecrets(v) {
		if s.Name != "" && s.Name == q.a.Name && s.Namespace == q.a.Namespace {
			return true, nil
		}
	}
	return false, nil
}

// mountSecrets returns the Secrets that a kubelet needs for a persistent volume. Drivers that name no namespace use
// the claim's.
func mountSecrets(v *corev1.PersistentVolume) (list []corev1.SecretReference) {
	add := func(r *corev1.SecretReference) {
		if r == nil {
			return
		}
		s := *r
		if s.Namespace == "" {
			s.Namespace = v.Spec.ClaimRef.Namespace
		}
		list = append(list, s)
	}
	switch s := &v.Spec.PersistentVolumeSource; {
	case s.AzureFile != nil:
		r := corev1.SecretReference{Name: s.AzureFile.SecretName}
		if s.AzureFile.SecretNamespace != nil {
			r.Namespace = *s.AzureFile.SecretNamespace
		}
		add(&r)
	case s.CephFS != nil:
		add(s.CephFS.SecretRef)
	case s.Cinder != nil:
		add(s.Cinder.SecretRef)
	case s.FlexVolume != nil:
		add(s.FlexVolume.SecretRef)
	case s.RBD != nil:
		add(s.RBD.SecretRef)
	case s.ScaleIO != nil:
		add(s.ScaleIO.SecretRef)
	case s.ISCSI != nil:
		add(s.ISCSI.SecretRef)
	case s.StorageOS != nil:
		if r := s.StorageOS.SecretRef; r != nil {
			add(&corev1.SecretReference{Namespace: r.Namespace, Name: r.Name})
		}
	case s.CSI != nil:
		add(s.CSI.NodePublishSecretRef)
		add(s.CSI.NodeStageSecretRef)
		add(s.CSI.NodeExpandSecretRef)
	}
	return list
}
