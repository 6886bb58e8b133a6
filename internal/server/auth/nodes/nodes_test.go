package nodes_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/nodes"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// cache returns the watch cache of a store with the pods.
func cache(t *testing.T, list ...*corev1.Pod) (*watchcache.Cache, *local.Store) {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, p := range list {
		value, _ := json.Marshal(p)
		put := storage.Op{Type: storage.Put, Key: "/registry/pods/" + p.Namespace + "/" + p.Name, Value: value}
		if _, err := store.Commit(context.Background(), storage.Txn{Then: []storage.Op{put}}); err != nil {
			t.Fatal(err)
		}
	}
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return hub.Add(watchcache.Options{
		Prefix: "/registry/pods/", Namespaced: true, Resource: "pods", IndexFields: []string{"spec.nodeName"},
		Fields: []watchcache.Field{{Label: "spec.nodeName", Paths: [][]string{{"spec", "nodeName"}}}},
	}), store
}

type lookup map[string]runtime.Object

func (l lookup) Get(_ context.Context, gr schema.GroupResource, _, name string) (runtime.Object, error) {
	if obj := l[gr.Resource+"/"+name]; obj != nil {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(gr, name)
}

func (l lookup) List(context.Context, schema.GroupResource, string) ([]runtime.Object, error) {
	return nil, nil
}

// TestNodes compares decisions with those of kube-apiserver's Node authorizer, according to its source at 1.37.2.
func TestNodes(t *testing.T) {
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{
		NodeName: "n1", ServiceAccountName: "till", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		Containers: []corev1.Container{{Env: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "env"}}}}}}},
		Volumes: []corev1.Volume{
			{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "a", ResourceClaimName: ptr.To("gpu")}, {Name: "b", ResourceClaimTemplateName: ptr.To("t")}},
	}, Status: corev1.PodStatus{
		ResourceClaimStatuses:       []corev1.PodResourceClaimStatus{{Name: "b", ResourceClaimName: ptr.To("made")}},
		ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: "extended"},
	}}
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}, Spec: corev1.PodSpec{
		NodeName: "n2", ServiceAccountName: "robot", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "hidden"}},
	}}
	mirror := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "mirror", Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"}}, Spec: corev1.PodSpec{
		NodeName: "n1", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "hidden"}},
	}}
	pods, _ := cache(t, web, other, mirror)
	claim := func(volume string) runtime.Object {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	}
	z := nodes.New(nodes.Options{
		Rules: bootstrap.NodeRules(), Pods: pods,
		Lookup: lookup{
			"persistentvolumeclaims/data": claim("pv1"),
			"persistentvolumes/pv1": &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
				ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data"},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
					NodeStageSecretRef:         &corev1.SecretReference{Namespace: "vault", Name: "stage"},
					ControllerPublishSecretRef: &corev1.SecretReference{Namespace: "vault", Name: "controllers"},
				}},
			}},
			"persistentvolumes/pv2":      &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "bank", Name: "data"}}},
			"persistentvolumes/free":     &corev1.PersistentVolume{},
			"volumeattachments/va1":      &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: "n1"}},
			"volumeattachments/va2":      &storagev1.VolumeAttachment{Spec: storagev1.VolumeAttachmentSpec{NodeName: "n2"}},
			"resourceslices/s1":          &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{NodeName: ptr.To("n1")}},
			"resourceslices/s2":          &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{NodeName: ptr.To("n2")}},
			"podcertificaterequests/pc1": &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{NodeName: "n1"}},
			"podcertificaterequests/pc2": &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{NodeName: "n2"}},
		},
	})
	const none = "no relationship found between node 'n1' and this object"
	n1 := &auth.User{Name: "system:node:n1", Groups: []string{auth.NodesGroup}}
	for _, c := range []struct{ verb, group, resource, namespace, name, fields, want string }{
		{"create", "", "nodes", "", "", "", "yes"},
		{"get", "", "nodes", "", "n1", "", "yes"},
		{"get", "", "nodes", "", "n2", "", "node 'n1' cannot read 'n2', only its own Node object"},
		{"list", "", "nodes", "", "", "", "node 'n1' cannot read all nodes, only its own Node object"},
		{"watch", "", "nodes", "", "n1", "metadata.name=n1", "yes"},
		{"patch", "", "nodes/status", "", "n1", "", "yes"},
		{"delete", "", "nodes", "", "n1", "", ""},
		{"watch", "", "pods", "", "", "", "can only list/watch pods with spec.nodeName field selector"},
		{"watch", "", "pods", "", "", "spec.nodeName=n1", "yes"},
		{"list", "", "pods", "", "", "status.phase!=Failed,spec.nodeName=n1", "yes"},
		{"list", "", "pods", "", "", "spec.nodeName!=n1", "can only list/watch pods with spec.nodeName field selector"},
		{"list", "", "pods", "", "", "spec.nodeName=n2", "can only list/watch pods with spec.nodeName field selector"},
		{"list", "", "pods", "", "", "spec.nodeName", "can only list/watch pods with spec.nodeName field selector"},
		{"watch", "", "pods", "shop", "web", "metadata.name=web", "yes"},
		{"watch", "", "pods", "shop", "other", "metadata.name=other", none},
		{"get", "", "pods", "shop", "web", "", "yes"},
		{"get", "", "pods", "shop", "mirror", "", "yes"},
		{"get", "", "pods", "shop", "other", "", none},
		{"deletecollection", "", "pods", "shop", "", "spec.nodeName=n1", ""},
		{"patch", "", "pods/status", "shop", "web", "", "yes"},
		{"get", "", "pods/log", "shop", "web", "", ""},
		{"create", "", "pods/eviction", "shop", "web", "", "yes"},
		{"update", "", "pods", "shop", "web", "", ""},
		{"get", "", "secrets", "shop", "pull", "", "yes"},
		{"get", "", "secrets", "shop", "env", "", "yes"},
		{"get", "", "secrets", "shop", "hidden", "", none},
		{"get", "", "secrets", "bank", "pull", "", none},
		{"get", "", "secrets", "vault", "stage", "", "yes"},
		{"get", "", "secrets", "vault", "controllers", "", none},
		{"list", "", "secrets", "shop", "", "", "No Object name found"},
		{"list", "", "secrets", "", "", "", "can only read namespaced object of this type"},
		{"update", "", "secrets", "shop", "pull", "", "can only read resources of this type"},
		{"get", "", "secrets/status", "shop", "pull", "", "cannot read subresource"},
		{"watch", "", "configmaps", "shop", "conf", "", "yes"},
		{"get", "", "configmaps", "shop", "con", "", none},
		{"get", "", "persistentvolumeclaims", "shop", "data", "", "yes"},
		{"get", "", "persistentvolumeclaims", "shop", "web-scratch", "", "yes"},
		{"list", "", "persistentvolumeclaims", "shop", "data", "", "can only get individual resources of this type"},
		{"patch", "", "persistentvolumeclaims/status", "shop", "data", "", "yes"},
		{"get", "", "persistentvolumeclaims/status", "shop", "data", "", "can only get/update/patch this type"},
		{"patch", "", "persistentvolumeclaims/status", "shop", "else", "", none},
		{"get", "", "persistentvolumes", "", "pv1", "", "yes"},
		{"get", "", "persistentvolumes", "", "pv2", "", none},
		{"get", "", "persistentvolumes", "", "free", "", none},
		{"get", "", "persistentvolumes", "", "gone", "", none},
		{"get", "", "serviceaccounts", "shop", "till", "", "yes"},
		{"get", "", "serviceaccounts", "shop", "robot", "", none},
		{"create", "", "serviceaccounts/token", "shop", "till", "", "yes"},
		{"create", "", "serviceaccounts/token", "shop", "robot", "", none},
		{"create", "", "serviceaccounts", "shop", "till", "", "can only create token subresource of serviceaccount"},
		{"list", "", "serviceaccounts", "shop", "", "", "can only create tokens for individual service accounts"},
		{"get", "storage.k8s.io", "volumeattachments", "", "va1", "", "yes"},
		{"get", "storage.k8s.io", "volumeattachments", "", "va2", "", none},
		{"update", "coordination.k8s.io", "leases", "kube-node-lease", "n1", "", "yes"},
		{"update", "coordination.k8s.io", "leases", "kube-node-lease", "n2", "", "can only access node lease with the same name as the requesting node"},
		{"create", "coordination.k8s.io", "leases", "kube-node-lease", "", "", "yes"},
		{"list", "coordination.k8s.io", "leases", "kube-node-lease", "", "", "can only get, create, update, patch, or delete a node lease"},
		{"get", "coordination.k8s.io", "leases", "kube-system", "n1", "", `can only access leases in the "kube-node-lease" system namespace`},
		{"delete", "storage.k8s.io", "csinodes", "", "n2", "", "can only access CSINode with the same name as the requesting node"},
		{"list", "storage.k8s.io", "csinodes", "", "", "", "can only get, create, update, patch, or delete a CSINode"},
		{"get", "resource.k8s.io", "resourceclaims", "shop", "gpu", "", "yes"},
		{"get", "resource.k8s.io", "resourceclaims", "shop", "made", "", "yes"},
		{"get", "resource.k8s.io", "resourceclaims", "shop", "extended", "", "yes"},
		{"get", "resource.k8s.io", "resourceclaims", "shop", "t", "", none},
		{"create", "resource.k8s.io", "resourceslices", "", "", "", "yes"},
		{"update", "resource.k8s.io", "resourceslices", "", "s1", "", "yes"},
		{"delete", "resource.k8s.io", "resourceslices", "", "s2", "", none},
		{"deletecollection", "resource.k8s.io", "resourceslices", "", "", "spec.nodeName=n1", "yes"},
		{"list", "resource.k8s.io", "resourceslices", "", "", "", "can only list/watch/deletecollection resourceslices with nodeName field selector"},
		{"create", "certificates.k8s.io", "podcertificaterequests", "shop", "", "", "yes"},
		{"get", "certificates.k8s.io", "podcertificaterequests", "shop", "pc1", "", "yes"},
		{"get", "certificates.k8s.io", "podcertificaterequests", "shop", "pc2", "", none},
		{"watch", "certificates.k8s.io", "podcertificaterequests", "", "", "spec.nodeName=n1", "yes"},
		{"update", "certificates.k8s.io", "podcertificaterequests/status", "shop", "pc1", "", "nodes may not access the status subresource of PodCertificateRequests"},
		{"delete", "certificates.k8s.io", "podcertificaterequests", "shop", "pc1", "", "nodes may not delete podcertificaterequests"},
		{"list", "certificates.k8s.io", "clustertrustbundles", "", "", "", "yes"},
		{"create", "certificates.k8s.io", "certificatesigningrequests", "", "", "", "yes"},
		{"list", "storage.k8s.io", "csidrivers", "", "", "", "yes"},
		{"list", "", "services", "", "", "", "yes"},
		{"get", "apps", "deployments", "shop", "web", "", ""},
	} {
		resource, sub, _ := strings.Cut(c.resource, "/")
		a := auth.Attributes{User: n1, Verb: c.verb, Group: c.group, Resource: resource, Subresource: sub, Namespace: c.namespace, Name: c.name, Fields: c.fields, IsResource: true}
		got, reason, err := z.Authorize(context.Background(), a)
		if got == auth.Allow {
			reason = "yes"
		}
		if reason != c.want || err != nil {
			t.Errorf("%s: %q %v, want %q", auth.ForbiddenMessage(a, ""), reason, err, c.want)
		}
		for _, u := range []*auth.User{{Name: "system:node:n1"}, {Name: "ann", Groups: []string{auth.NodesGroup}}, {Name: "system:node:", Groups: []string{auth.NodesGroup}}} {
			a.User = u
			if got, _, _ := z.Authorize(context.Background(), a); got == auth.Allow {
				t.Errorf("%s %v is taken for a node", u.Name, u.Groups)
			}
		}
	}
}

// TestOwnWrite checks that a kubelet is allowed the Secret of a pod as soon as the pod is bound, even if the watch
// cache has not been advanced since.
func TestOwnWrite(t *testing.T) {
	pods, store := cache(t)
	z := nodes.New(nodes.Options{Rules: bootstrap.NodeRules(), Pods: pods, Lookup: lookup{}})
	a := auth.Attributes{
		User: &auth.User{Name: "system:node:n1", Groups: []string{auth.NodesGroup}},
		Verb: "get", Resource: "secrets", Namespace: "shop", Name: "pull", IsResource: true,
	}
	ask := func() bool {
		t.Helper()
		d, _, err := z.Authorize(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return d == auth.Allow
	}
	if ask() {
		t.Fatal("allowed before there is a pod")
	}
	value := `{"metadata":{"namespace":"shop","name":"web"},"spec":{"nodeName":"n1","imagePullSecrets":[{"name":"pull"}]}}`
	put := storage.Op{Type: storage.Put, Key: "/registry/pods/shop/web", Value: []byte(value)}
	if _, err := store.Commit(t.Context(), storage.Txn{Then: []storage.Op{put}}); err != nil {
		t.Fatal(err)
	}
	if !ask() {
		t.Fatal("refused what a pod that is bound refers to")
	}
}
