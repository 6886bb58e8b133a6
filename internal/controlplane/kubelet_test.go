package controlplane_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestKubelet: client-go with a kubelet's certificate, issued through a
// CertificateSigningRequest, has a kubelet's rights on its own node and its pods, and no
// rights on those of another node.
func TestKubelet(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"certificates"}})
	admin := controlplanetest.Clientset(t, cp)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	kubelet := kubernetes.NewForConfigOrDie(nodeConfig(ctx, t, cp.Config(), admin, "node-1"))

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, why string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want a refusal with %q", err, why)
		}
	}
	core, opts := kubelet.CoreV1(), metav1.GetOptions{}

	// Its Node and its Lease.
	_, err := core.Nodes().Get(ctx, "node-1", opts)
	if !apierrors.IsNotFound(err) {
		t.Errorf("its Node before it is created: %v", err)
	}
	_, err = core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, metav1.CreateOptions{})
	must(err)
	_, err = core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}}, metav1.CreateOptions{})
	refused(err, `node "node-1" is not allowed to modify node "node-2"`)
	_, err = core.Nodes().Patch(ctx, "node-1", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
	must(err)
	refused(core.Nodes().Delete(ctx, "node-1", metav1.DeleteOptions{}), `cannot delete resource "nodes"`)
	_, err = core.Nodes().List(ctx, metav1.ListOptions{})
	refused(err, "node 'node-1' cannot read all nodes, only its own Node object")
	leases := kubelet.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, metav1.CreateOptions{})
	must(err)
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	must(err)
	_, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "node-2"}}, metav1.CreateOptions{})
	refused(err, "can only access node lease with the same name as the requesting node")

	// Its pods, and the objects that they refer to, as soon as a pod is bound.
	for _, name := range []string{"mine", "others"} {
		_, err = admin.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must(err)
		_, err = admin.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must(err)
		_, err = admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		must(err)
	}
	watch, err := core.Pods("").Watch(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=node-1"})
	must(err)
	defer watch.Stop()
	pods := admin.CoreV1().Pods("default")
	for name, at := range map[string]string{"mine": "node-1", "others": "node-2"} {
		_, err = pods.Create(ctx, podWith(name), metav1.CreateOptions{})
		must(err)
		must(pods.Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: at}}, metav1.CreateOptions{}))
	}
	pod, ok := (<-watch.ResultChan()).Object.(*corev1.Pod)
	if !ok || pod.Name != "mine" {
		t.Fatalf("watched %+v", pod)
	}
	const none = "no relationship found between node 'node-1' and this object"
	_, err = core.Secrets("default").Get(ctx, "mine", opts)
	must(err)
	_, err = core.ConfigMaps("default").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=mine"})
	must(err)
	_, err = core.Secrets("default").Get(ctx, "others", opts)
	refused(err, none)
	_, err = core.ConfigMaps("default").Get(ctx, "others", opts)
	refused(err, none)
	_, err = core.Secrets("default").List(ctx, metav1.ListOptions{})
	refused(err, "No Object name found")
	_, err = core.Pods("default").Get(ctx, "others", opts)
	refused(err, none)
	_, err = core.Pods("").List(ctx, metav1.ListOptions{})
	refused(err, "can only list/watch pods with spec.nodeName field selector")
	_, err = core.Pods("default").Patch(ctx, "mine", types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
	must(err)

	// Tokens for its pods, for the audience that a volume names.
	ask := func(account, audience string) error {
		_, err := core.ServiceAccounts("default").CreateToken(ctx, account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{audience}, BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
		}}, metav1.CreateOptions{})
		return err
	}
	must(ask("mine", "vault"))
	refused(ask("mine", "bank"), `system:node:node-1 is not authorized to request tokens for audience "bank"`)
	refused(ask("others", "vault"), none)

	// SubjectAccessReviews agree with the Node authorizer.
	review := func(fields *authorizationv1.FieldSelectorAttributes) bool {
		r, err := admin.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:node:node-1", Groups: []string{"system:nodes"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Resource: "pods", FieldSelector: fields},
		}}, metav1.CreateOptions{})
		must(err)
		return r.Status.Allowed
	}
	requires := metav1.FieldSelectorRequirement{Key: "spec.nodeName", Operator: metav1.FieldSelectorOpIn, Values: []string{"node-1"}}
	for _, c := range []struct {
		fields *authorizationv1.FieldSelectorAttributes
		want   bool
	}{
		{nil, false},
		{&authorizationv1.FieldSelectorAttributes{RawSelector: "spec.nodeName=node-1"}, true},
		{&authorizationv1.FieldSelectorAttributes{RawSelector: "spec.nodeName=node-2"}, false},
		{&authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{requires}}, true},
	} {
		if review(c.fields) != c.want {
			t.Errorf("a review of watching pods selected by %v: allowed is not %v", c.fields, c.want)
		}
	}
}

func podWith(account string) *corev1.Pod {
	source := &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: account}}
	config := &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: account}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: account}, Spec: corev1.PodSpec{
		ServiceAccountName: account, AutomountServiceAccountToken: ptr.To(false),
		Containers: []corev1.Container{{Name: "main", Image: "web", EnvFrom: []corev1.EnvFromSource{{SecretRef: source}, {ConfigMapRef: config}}}},
		Volumes: []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "vault"}}}}}}},
	}}
}

// nodeConfig requests a client certificate as a kubelet does, and returns a config with it.
func nodeConfig(ctx context.Context, t *testing.T, server *rest.Config, admin kubernetes.Interface, node string) *rest.Config {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}},
	}, key)
	must(err)
	requests := admin.CertificatesV1().CertificateSigningRequests()
	watch, err := requests.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + node})
	must(err)
	defer watch.Stop()
	csr, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature},
		},
	}, metav1.CreateOptions{})
	must(err)
	approved := certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"}
	if !hasCondition(csr, approved.Type) {
		csr.Status.Conditions = append(csr.Status.Conditions, approved)
		if _, err = requests.UpdateApproval(ctx, node, csr, metav1.UpdateOptions{}); !apierrors.IsConflict(err) { // approved by itself meanwhile
			must(err)
		}
	}
	for len(csr.Status.Certificate) == 0 {
		e, ok := <-watch.ResultChan()
		if !ok {
			t.Fatal("no certificate")
		}
		csr = e.Object.(*certificatesv1.CertificateSigningRequest)
	}
	text, err := x509.MarshalECPrivateKey(key)
	must(err)
	config := rest.AnonymousClientConfig(server)
	config.QPS = -1
	config.CertData = csr.Status.Certificate
	config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})
	return config
}

func hasCondition(c *certificatesv1.CertificateSigningRequest, typ certificatesv1.RequestConditionType) bool {
	for _, have := range c.Status.Conditions {
		if have.Type == typ {
			return true
		}
	}
	return false
}
