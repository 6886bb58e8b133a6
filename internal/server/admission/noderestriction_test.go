package admission_test

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
)

// TestNodeRestriction checks that a kubelet can write only its own node's objects.
func TestNodeRestriction(t *testing.T) {
	on := func(node string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "shop", UID: "u"}, Spec: corev1.PodSpec{NodeName: node}}
		if change != nil {
			change(p)
		}
		return p
	}
	mirror := func(change func(*corev1.Pod)) *corev1.Pod {
		return on("n", func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n-uid", Controller: ptr.To(true)}}
			if change != nil {
				change(p)
			}
		})
	}
	node := func(labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
	}
	token := func(ref *authenticationv1.BoundObjectReference) *authenticationv1.TokenRequest {
		return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: ref}}
	}
	w := newWorld()
	w["nodes"] = []metav1.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n-uid"}}}
	w["pods"] = []metav1.Object{on("n", func(p *corev1.Pod) {
		p.Spec.ServiceAccountName = "default"
		p.Spec.Volumes = []corev1.Volume{
			{Name: "t", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}, {ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "vault"}}}}}},
			{Name: "s", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{PodCertificate: &corev1.PodCertificateProjection{SignerName: "example.com/signer"}}}}}},
			{Name: "c", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		}
	}), on("m", func(p *corev1.Pod) { p.Name = "q" })}
	w["persistentvolumeclaims"] = []metav1.Object{&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}}}
	w["persistentvolumes"] = []metav1.Object{&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk"}}}}}
	w["csidrivers"] = []metav1.Object{&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: storagev1.CSIDriverSpec{TokenRequests: []storagev1.TokenRequest{{Audience: "disks"}}}}}
	w["serviceaccounts"][0].(*corev1.ServiceAccount).UID = "sa"
	allowed := auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
		return auth.AllowIf(a.Verb == "request-serviceaccounts-token-audience" && a.Resource == "granted" && a.Name == "default" && a.Namespace == "shop"), "", nil
	})
	p := admission.NodeRestriction{Lookup: w, Authorizer: allowed}
	audiences := func(list ...string) *authenticationv1.TokenRequest {
		r := token(&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"})
		r.Spec.Audiences = list
		return r
	}
	certificate := func(change func(*certificatesv1.PodCertificateRequestSpec)) *certificatesv1.PodCertificateRequest {
		r := &certificatesv1.PodCertificateRequest{Spec: certificatesv1.PodCertificateRequestSpec{
			SignerName: "example.com/signer", NodeName: "n", NodeUID: "n-uid", PodName: "p", PodUID: "u", ServiceAccountName: "default", ServiceAccountUID: "sa"}}
		change(&r.Spec)
		return r
	}
	for _, c := range []struct {
		name            string
		verb            admission.Verb
		path, namespace string // resource or resource/subresource
		object          string
		obj, old        runtime.Object
		want            string // part of the message; empty if allowed
	}{
		{"a mirror pod", admission.Create, "pods", "shop", "p", mirror(nil), nil, ""},
		{"a plain pod", admission.Create, "pods", "shop", "p", on("n", nil), nil, "can only create mirror pods"},
		{"a mirror pod of another node", admission.Create, "pods", "shop", "p", mirror(func(p *corev1.Pod) { p.Spec.NodeName = "m" }), nil, "spec.nodeName set to itself"},
		{"a mirror pod without an owner", admission.Create, "pods", "shop", "p", mirror(func(p *corev1.Pod) { p.OwnerReferences = nil }), nil, "an owner reference set to itself"},
		{"a mirror pod of an older node", admission.Create, "pods", "shop", "p", mirror(func(p *corev1.Pod) { p.OwnerReferences[0].UID = "old" }), nil, "UID mismatch: expected old got n-uid"},
		{"a mirror pod with a secret", admission.Create, "pods", "shop", "p", mirror(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}}
		}), nil, "can not create pods that reference secrets"},
		{"its pod goes", admission.Delete, "pods", "shop", "p", nil, on("n", nil), ""},
		{"another's pod goes", admission.Delete, "pods", "shop", "p", nil, on("m", nil), "can only delete pods"},
		{"a pod changes", admission.Update, "pods", "shop", "p", on("n", nil), on("n", nil), "can only create and delete mirror pods"},
		{"its pod's status", admission.Update, "pods/status", "shop", "p", on("n", nil), on("n", nil), ""},
		{"another's pod's status", admission.Update, "pods/status", "shop", "p", on("m", nil), on("m", nil), "can only update pod status for pods"},
		{"labels by way of the status", admission.Update, "pods/status", "shop", "p", on("n", func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), on("n", nil), "cannot update labels through pod status"},
		{"another's pod is evicted", admission.Create, "pods/eviction", "shop", "q", nil, nil, "can only evict pods"},
		{"its node", admission.Create, "nodes", "", "n", node(map[string]string{corev1.LabelHostname: "n", "mine": "x"}), nil, ""},
		{"another node", admission.Create, "nodes", "", "m", node(nil), nil, `node "n" is not allowed to modify node "m"`},
		{"a label of Kubernetes", admission.Update, "nodes", "", "n", node(map[string]string{"node-role.kubernetes.io/x": ""}), node(nil), "is not allowed to modify labels: node-role.kubernetes.io/x"},
		{"a label of the kubelet's", admission.Update, "nodes", "", "n", node(map[string]string{"x.kubelet.kubernetes.io/y": ""}), node(nil), ""},
		{"taints", admission.Update, "nodes", "", "n", node(nil), &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a"}}}}, "is not allowed to modify taints"},
		{"its lease", admission.Update, "leases", "kube-node-lease", "n", &coordinationv1.Lease{}, &coordinationv1.Lease{}, ""},
		{"another's lease", admission.Update, "leases", "kube-node-lease", "m", &coordinationv1.Lease{}, &coordinationv1.Lease{}, "same name as the requesting node"},
		{"a lease elsewhere", admission.Create, "leases", "shop", "n", &coordinationv1.Lease{}, nil, `"kube-node-lease" system namespace`},
		{"a token for its pod", admission.Create, "serviceaccounts/token", "shop", "default", token(&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}), nil, ""},
		{"a token for nobody", admission.Create, "serviceaccounts/token", "shop", "default", token(nil), nil, "node requested token not bound to a pod"},
		{"a token for another's pod", admission.Create, "serviceaccounts/token", "shop", "default", token(&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "q", UID: "u"}), nil, "bound to a pod scheduled on a different node"},
		{"a token for an audience of its pod", admission.Create, "serviceaccounts/token", "shop", "default", audiences("vault"), nil, ""},
		{"a token for an audience of a driver", admission.Create, "serviceaccounts/token", "shop", "default", audiences("disks"), nil, ""},
		{"a token for an audience it is granted", admission.Create, "serviceaccounts/token", "shop", "default", audiences("granted"), nil, ""},
		{"a token for another audience", admission.Create, "serviceaccounts/token", "shop", "default", audiences("bank"), nil,
			`system:node:n is not authorized to request tokens for audience "bank"`},
		{"a token for two audiences", admission.Create, "serviceaccounts/token", "shop", "default", audiences("vault", "disks"), nil, "node may only request 0 or 1 audiences"},
		{"a certificate for its pod", admission.Create, "podcertificaterequests", "shop", "c", certificate(func(s *certificatesv1.PodCertificateRequestSpec) {}), nil, ""},
		{"a certificate for another node", admission.Create, "podcertificaterequests", "shop", "c", certificate(func(s *certificatesv1.PodCertificateRequestSpec) { s.NodeName = "m" }), nil,
			`PodCertificateRequest.Spec.NodeName="m", which is not the requesting node "n"`},
		{"a certificate for another's pod", admission.Create, "podcertificaterequests", "shop", "c", certificate(func(s *certificatesv1.PodCertificateRequestSpec) { s.PodName = "q" }), nil,
			`pod "shop/q" is not running on node "n" named in the PodCertificateRequest`},
		{"a certificate for another account", admission.Create, "podcertificaterequests", "shop", "c", certificate(func(s *certificatesv1.PodCertificateRequestSpec) { s.ServiceAccountName = "quiet" }), nil,
			`contains serviceAccountName ("quiet") that differs from running pod ("default")`},
		//lint:ignore SA1019 clients can still send it
		{"a node with a configuration source", admission.Create, "nodes", "", "n", &corev1.Node{Spec: corev1.NodeSpec{ConfigSource: &corev1.NodeConfigSource{}}}, nil, "non-nil configSource"},
		{"a claim", admission.Update, "persistentvolumeclaims", "shop", "c", &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaim{}, "may only update PVC status"},
		{"what is no node's", admission.Create, "configmaps", "shop", "c", &corev1.ConfigMap{}, nil, ""},
	} {
		plural, sub, _ := strings.Cut(c.path, "/")
		r := request(c.verb, plural, c.namespace, c.object, c.obj, c.old)
		r.Subresource = sub
		r.User = &auth.User{Name: auth.NodeUserPrefix + "n", Groups: []string{auth.NodesGroup, auth.AllAuthenticated}}
		err := admit(t, p, r)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || err.ErrStatus.Code != 403 || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		r.User = &auth.User{Name: "ann"}
		if err := admit(t, p, r); err != nil {
			t.Errorf("%s, of somebody else: %v", c.name, err)
		}
	}
}

func TestMountableSecrets(t *testing.T) {
	w := newWorld()
	sa := w["serviceaccounts"][0].(*corev1.ServiceAccount)
	sa.Secrets, sa.ImagePullSecrets = []corev1.ObjectReference{{Name: "mine"}}, []corev1.LocalObjectReference{{Name: "registry"}}
	secret := func(name string) corev1.EnvVarSource {
		return corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	}
	pod := func(change func(*corev1.PodSpec)) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
		change(&p.Spec)
		return p
	}
	for _, c := range []struct {
		pod  func() *corev1.Pod
		want string
	}{
		{func() *corev1.Pod { return pod(func(*corev1.PodSpec) {}) }, ""},
		{func() *corev1.Pod {
			return pod(func(s *corev1.PodSpec) {
				v := secret("mine")
				s.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &v}}
			})
		}, ""},
		{func() *corev1.Pod {
			return pod(func(s *corev1.PodSpec) {
				v := secret("other")
				s.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &v}}
			})
		}, `container c with envVar A referencing secret.secretName="other" is not allowed because service account default does not reference that secret`},
		{func() *corev1.Pod {
			return pod(func(s *corev1.PodSpec) {
				s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "other"}}}}
			})
		}, `volume with secret.secretName="other" is not allowed`},
		{func() *corev1.Pod {
			return pod(func(s *corev1.PodSpec) { s.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "other"}} })
		}, `imagePullSecrets[0].name="other" is not allowed`},
	} {
		sa.Annotations = map[string]string{"kubernetes.io/enforce-mountable-secrets": "true"}
		err := admit(t, admission.ServiceAccount{Lookup: w}, request(admission.Create, "pods", "shop", "p", c.pod(), nil))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
		sa.Annotations = nil
		if err := admit(t, admission.ServiceAccount{Lookup: w}, request(admission.Create, "pods", "shop", "p", c.pod(), nil)); err != nil {
			t.Errorf("not enforced: %v", err)
		}
	}
}
