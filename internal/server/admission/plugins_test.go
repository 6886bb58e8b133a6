package admission_test

import (
	"context"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
)

func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main"}},
		},
	}
	if change != nil {
		change(p)
	}
	return p
}

func TestNamespaceLifecycle(t *testing.T) {
	p := admission.NamespaceLifecycle{Lookup: newWorld()}
	for _, c := range []struct {
		name    string
		r       *admission.Request
		code    int32
		message string
	}{
		{"a live namespace", request(admission.Create, "pods", "shop", "", pod(nil), nil), 0, ""},
		{"no namespace", request(admission.Create, "pods", "nope", "", pod(nil), nil), 404, `namespaces "nope" not found`},
		{"one that goes", request(admission.Create, "configmaps", "going", "c", &corev1.ConfigMap{}, nil), 403,
			`configmaps "c" is forbidden: unable to create new content in namespace going because it is being terminated`},
		{"an update there", request(admission.Update, "configmaps", "going", "c", &corev1.ConfigMap{}, &corev1.ConfigMap{}), 0, ""},
		{"a delete there", request(admission.Delete, "configmaps", "going", "c", nil, nil), 0, ""},
		{"delete default", request(admission.Delete, "namespaces", "", "default", nil, nil), 403, `namespaces "default" is forbidden: this namespace may not be deleted`},
		{"delete another", request(admission.Delete, "namespaces", "", "shop", nil, nil), 0, ""},
		{"a cluster's object", request(admission.Create, "nodes", "", "n", &corev1.Node{}, nil), 0, ""},
		{"a review", request(admission.Create, "localsubjectaccessreviews", "nope", "", nil, nil), 0, ""},
	} {
		err := admit(t, p, c.r)
		switch {
		case c.code == 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.code != 0 && (err == nil || err.ErrStatus.Code != c.code || err.ErrStatus.Message != c.message):
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "one that goes" && err != nil {
			if causes := err.ErrStatus.Details.Causes; len(causes) != 1 || causes[0].Type != corev1.NamespaceTerminatingCause || causes[0].Field != "metadata.namespace" {
				t.Errorf("causes are %+v", causes)
			}
		}
	}
}

func TestServiceAccount(t *testing.T) {
	p := admission.ServiceAccount{Lookup: newWorld()}
	plain := pod(nil)
	if err := admit(t, p, request(admission.Create, "pods", "shop", "", plain, nil)); err != nil {
		t.Fatal(err)
	}
	if plain.Spec.ServiceAccountName != "default" || plain.Spec.DeprecatedServiceAccount != "default" || len(plain.Spec.Volumes) != 1 {
		t.Fatalf("the pod became %+v", plain.Spec)
	}
	v := plain.Spec.Volumes[0]
	if len(v.Name) != len("kube-api-access-xxxxx") || len(v.Projected.Sources) != 3 || *v.Projected.Sources[0].ServiceAccountToken.ExpirationSeconds != 3607 {
		t.Errorf("the volume is %+v", v)
	}
	for _, c := range append(plain.Spec.InitContainers, plain.Spec.Containers...) {
		if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != v.Name || !c.VolumeMounts[0].ReadOnly || c.VolumeMounts[0].MountPath != "/var/run/secrets/kubernetes.io/serviceaccount" {
			t.Errorf("%s mounts %+v", c.Name, c.VolumeMounts)
		}
	}
	again := plain.DeepCopy()
	if err := admit(t, p, request(admission.Create, "pods", "shop", "", again, nil)); err != nil || len(again.Spec.Volumes) != 1 || len(again.Spec.Containers[0].VolumeMounts) != 1 {
		t.Errorf("a pod that has it all: %v %+v", err, again.Spec)
	}
	volumeOf := func(owner string) string {
		owned := pod(func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: new(true)}}
		})
		if err := admit(t, p, request(admission.Create, "pods", "shop", "", owned, nil)); err != nil {
			t.Fatal(err)
		}
		return owned.Spec.Volumes[0].Name
	}
	if a, b := volumeOf("a"), volumeOf("b"); a != volumeOf("a") || a == b || len(a) != len(v.Name) {
		t.Errorf("the volumes of the pods of two controllers are %s and %s, and then %s", a, b, volumeOf("a"))
	}

	quiet := pod(func(p *corev1.Pod) { p.Spec.ServiceAccountName = "quiet" })
	if err := admit(t, p, request(admission.Create, "pods", "shop", "", quiet, nil)); err != nil || len(quiet.Spec.Volumes) != 0 || quiet.Spec.ImagePullSecrets[0].Name != "registry" {
		t.Errorf("without a token: %v %+v", err, quiet.Spec)
	}

	lost := pod(func(p *corev1.Pod) { p.Spec.ServiceAccountName = "nobody" })
	err := admit(t, p, request(admission.Create, "pods", "shop", "p", lost, nil))
	if err == nil || err.ErrStatus.Message != `pods "p" is forbidden: error looking up service account shop/nobody: serviceaccount "nobody" not found` {
		t.Errorf("no such account: %v", err)
	}
	mirror := pod(func(p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
		p.Spec.ServiceAccountName = "default"
	})
	if err := admit(t, p, request(admission.Create, "pods", "shop", "p", mirror, nil)); err == nil || err.ErrStatus.Code != 403 {
		t.Errorf("a mirror pod with an account: %v", err)
	}
}

func TestTolerations(t *testing.T) {
	own := int64(5)
	p := pod(func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &own}}
	})
	if err := admit(t, admission.DefaultTolerationSeconds{}, request(admission.Create, "pods", "shop", "", p, nil)); err != nil {
		t.Fatal(err)
	}
	got := p.Spec.Tolerations
	if len(got) != 2 || *got[0].TolerationSeconds != 5 || got[1].Key != corev1.TaintNodeUnreachable || *got[1].TolerationSeconds != 300 {
		t.Errorf("tolerations are %+v", got)
	}
	all := pod(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	if _ = admit(t, admission.DefaultTolerationSeconds{}, request(admission.Create, "pods", "shop", "", all, nil)); len(all.Spec.Tolerations) != 1 {
		t.Errorf("who tolerates all gets %+v", all.Spec.Tolerations)
	}
}

func TestPriority(t *testing.T) {
	w := newWorld()
	never := corev1.PreemptNever
	w["priorityclasses"] = []metav1.Object{&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000, PreemptionPolicy: &never}}
	p := admission.Priority{Lookup: w}
	create := func(change func(*corev1.Pod)) (*corev1.Pod, string) {
		pd := pod(change)
		if err := admit(t, p, request(admission.Create, "pods", "shop", "p", pd, nil)); err != nil {
			return nil, err.ErrStatus.Message
		}
		return pd, ""
	}
	if pd, err := create(nil); err != "" || *pd.Spec.Priority != 0 || *pd.Spec.PreemptionPolicy != corev1.PreemptLowerPriority {
		t.Errorf("no class: %s %+v", err, pd)
	}
	if pd, err := create(func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }); err != "" || *pd.Spec.Priority != 1000 || *pd.Spec.PreemptionPolicy != never {
		t.Errorf("a class: %s %+v", err, pd)
	}
	if _, err := create(func(p *corev1.Pod) { p.Spec.PriorityClassName = "none" }); err != `pods "p" is forbidden: no PriorityClass with name none was found` {
		t.Errorf("no such class: %s", err)
	}
	seven := int32(7)
	if _, err := create(func(p *corev1.Pod) { p.Spec.Priority = &seven }); !strings.Contains(err, "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0") {
		t.Errorf("a number of its own: %s", err)
	}
	standard := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "std"}, Value: 10, GlobalDefault: true}
	if err := admit(t, p, request(admission.Create, "priorityclasses", "", "std", standard, nil)); err != nil {
		t.Errorf("a default class: %v", err)
	}
	w["priorityclasses"] = append(w["priorityclasses"], standard)
	if pd, err := create(nil); err != "" || pd.Spec.PriorityClassName != "std" || *pd.Spec.Priority != 10 {
		t.Errorf("with a default class: %s %+v", err, pd)
	}
	second := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "two"}, GlobalDefault: true}
	if err := admit(t, p, request(admission.Create, "priorityclasses", "", "two", second, nil)); err == nil || err.ErrStatus.Code != 403 {
		t.Errorf("a second default class: %v", err)
	}
}

func TestClasses(t *testing.T) {
	w := newWorld()
	class := func(name string, age time.Duration, isDefault bool) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}
		if isDefault {
			m.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true", networkingv1.AnnotationIsDefaultIngressClass: "true"}
		}
		return m
	}
	for _, m := range []metav1.ObjectMeta{class("old", 2*time.Hour, true), class("new", time.Hour, true), class("newest", 0, false)} {
		w["storageclasses"] = append(w["storageclasses"], &storagev1.StorageClass{ObjectMeta: m})
		w["ingressclasses"] = append(w["ingressclasses"], &networkingv1.IngressClass{ObjectMeta: m})
	}
	claim, none := &corev1.PersistentVolumeClaim{}, ""
	if err := admit(t, admission.DefaultStorageClass{Lookup: w}, request(admission.Create, "persistentvolumeclaims", "shop", "", claim, nil)); err != nil || claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName != "new" {
		t.Errorf("claim: %v %+v", err, claim.Spec)
	}
	own := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &none}}
	if err := admit(t, admission.DefaultStorageClass{Lookup: w}, request(admission.Create, "persistentvolumeclaims", "shop", "", own, nil)); err != nil || *own.Spec.StorageClassName != "" {
		t.Errorf("a claim for none: %v %+v", err, own.Spec)
	}
	in := &networkingv1.Ingress{}
	if err := admit(t, admission.DefaultIngressClass{Lookup: w}, request(admission.Create, "ingresses", "shop", "", in, nil)); err != nil || *in.Spec.IngressClassName != "new" {
		t.Errorf("ingress: %v %+v", err, in.Spec)
	}

	w["runtimeclasses"] = []metav1.Object{&nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "vm"},
		Overhead:   &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "yes"}},
	}}
	vm, lost := "vm", "lost"
	p := pod(func(p *corev1.Pod) { p.Spec.RuntimeClassName = &vm })
	if err := admit(t, admission.RuntimeClass{Lookup: w}, request(admission.Create, "pods", "shop", "p", p, nil)); err != nil || p.Spec.Overhead.Cpu().MilliValue() != 100 || p.Spec.NodeSelector["vm"] != "yes" {
		t.Errorf("runtime class: %v %+v", err, p.Spec)
	}
	p = pod(func(p *corev1.Pod) { p.Spec.RuntimeClassName = &lost })
	if err := admit(t, admission.RuntimeClass{Lookup: w}, request(admission.Create, "pods", "shop", "p", p, nil)); err == nil || err.ErrStatus.Message != `pods "p" is forbidden: pod rejected: RuntimeClass "lost" not found` {
		t.Errorf("no such runtime class: %v", err)
	}
}

func TestAttest(t *testing.T) {
	bundle := func(signer string, change func(*certificatesv1.ClusterTrustBundle)) *certificatesv1.ClusterTrustBundle {
		b := &certificatesv1.ClusterTrustBundle{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: certificatesv1.ClusterTrustBundleSpec{SignerName: signer, TrustBundle: "pem"}}
		if change != nil {
			change(b)
		}
		return b
	}
	for _, c := range []struct {
		name     string
		may      string // the signer that the user may attest for
		new, old *certificatesv1.ClusterTrustBundle
		want     string
	}{
		{"nobody's", "", bundle("", nil), nil, ""},
		{"by name", "example.com/x", bundle("example.com/x", nil), nil, ""},
		{"by domain", "example.com/*", bundle("example.com/x", nil), nil, ""},
		{"another's", "example.com/y", bundle("example.com/x", nil), nil,
			`clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "example.com/x"`},
		{"a change", "", bundle("example.com/x", func(b *certificatesv1.ClusterTrustBundle) { b.Spec.TrustBundle = "other" }), bundle("example.com/x", nil),
			`clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "example.com/x"`},
		{"a collector's change", "", bundle("example.com/x", func(b *certificatesv1.ClusterTrustBundle) { b.Finalizers = []string{"example.com/f"} }), bundle("example.com/x", nil), ""},
	} {
		p := admission.Certificates{Authorizer: auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
			return auth.AllowIf(a.Verb == "attest" && a.Group == "certificates.k8s.io" && a.Resource == "signers" && a.Name == c.may), "", nil
		})}
		verb := admission.Create
		var old runtime.Object
		if c.old != nil {
			verb, old = admission.Update, c.old
		}
		got := ""
		if err := admit(t, p, request(verb, "clustertrustbundles", "", "b", c.new, old)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPodCertificateSigner writes the status of a request as users who may and may not sign for its signer.
func TestPodCertificateSigner(t *testing.T) {
	pending := &certificatesv1.PodCertificateRequest{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: certificatesv1.PodCertificateRequestSpec{SignerName: "example.com/x"}}
	denied := pending.DeepCopy()
	denied.Status.Conditions = []metav1.Condition{{Type: certificatesv1.PodCertificateRequestConditionTypeDenied, Status: metav1.ConditionTrue}}
	for _, c := range []struct {
		name, may string // the signer that the user may sign for
		new       *certificatesv1.PodCertificateRequest
		want      string
	}{
		{"a signer", "example.com/x", denied, ""},
		{"a signer of a domain", "example.com/*", denied, ""},
		{"no change", "", pending, ""},
		{"another signer", "example.com/y", denied,
			`PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: User "ann" is not permitted to "sign" for signer "example.com/x"`},
	} {
		p := admission.Certificates{Authorizer: auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
			return auth.AllowIf(a.Verb == "sign" && a.Group == "certificates.k8s.io" && a.Resource == "signers" && a.Name == c.may), "", nil
		})}
		r := request(admission.Update, "podcertificaterequests", "shop", "r", c.new, pending)
		r.Subresource, r.User = "status", &auth.User{Name: "ann"}
		got := ""
		if err := admit(t, p, r); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCertificates(t *testing.T) {
	only := auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
		return auth.AllowIf(a.Verb == "approve" && a.Resource == "signers" && a.Name == "example.com/*"), "", nil
	})
	p := admission.Certificates{Authorizer: only}
	csr := &certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "example.com/x", Username: "root", Groups: []string{"system:masters"}}}
	if err := admit(t, p, request(admission.Create, "certificatesigningrequests", "", "c", csr, nil)); err != nil || csr.Spec.Username != "ann" || len(csr.Spec.Groups) != 1 || csr.Spec.Groups[0] != auth.AllAuthenticated {
		t.Errorf("created: %v %+v", err, csr.Spec)
	}
	approve := request(admission.Update, "certificatesigningrequests", "", "c", csr, csr)
	approve.Subresource = "approval"
	if err := admit(t, p, approve); err != nil {
		t.Errorf("approved by the domain: %v", err)
	}
	foreign := csr.DeepCopy()
	foreign.Spec.SignerName = "other.com/x"
	approve = request(admission.Update, "certificatesigningrequests", "", "c", foreign, foreign)
	approve.Subresource = "approval"
	if err := admit(t, p, approve); err == nil || !strings.Contains(err.ErrStatus.Message, `user not permitted to approve requests with signerName "other.com/x"`) {
		t.Errorf("approved for another: %v", err)
	}
	signed := csr.DeepCopy()
	signed.Status.Certificate = []byte("pem")
	sign := request(admission.Update, "certificatesigningrequests", "", "c", signed, csr)
	sign.Subresource = "status"
	if err := admit(t, p, sign); err == nil || err.ErrStatus.Code != 403 {
		t.Errorf("signed: %v", err)
	}
}

func TestEscalation(t *testing.T) {
	read := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	write := rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}}
	bind := rbacv1.PolicyRule{Verbs: []string{"bind"}, APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"clusterroles"}, ResourceNames: []string{"writer"}}
	clusterRole := func(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	}
	binding := func(role, user string) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
		}
	}
	policy := rbac.NewPolicy(rbac.Objects{
		ClusterRoles:        []*rbacv1.ClusterRole{clusterRole("reader", read), clusterRole("writer", write), clusterRole("both", read, write), clusterRole("binder", bind)},
		ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{binding("reader", "ann"), binding("binder", "ann")},
	})
	p := admission.RBACEscalation{
		Authorizer: auth.AuthorizerFunc(func(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
			ok, why := policy.Authorize(a)
			return auth.AllowIf(ok), why, nil
		}),
		Policy: func(context.Context) (*rbac.Policy, error) { return policy, nil },
	}
	aggregated := clusterRole("sum")
	aggregated.AggregationRule = &rbacv1.AggregationRule{}
	for _, c := range []struct {
		name     string
		plural   string
		obj, old runtime.Object
		code     int32
	}{
		{"what one has", "clusterroles", clusterRole("x", read), nil, 0},
		{"what one has not", "clusterroles", clusterRole("x", write), nil, 403},
		{"unchanged", "clusterroles", clusterRole("x", write), clusterRole("x", write), 0},
		{"more than before", "clusterroles", clusterRole("x", read, write), clusterRole("x", read), 403},
		{"an aggregation", "clusterroles", aggregated, nil, 403},
		{"bind to what one has", "clusterrolebindings", binding("reader", "bob"), nil, 0},
		{"bind to what one may bind to", "clusterrolebindings", binding("writer", "bob"), nil, 0},
		{"bind to more", "clusterrolebindings", binding("both", "bob"), nil, 403},
		{"bind to nothing", "clusterrolebindings", binding("gone", "bob"), nil, 404},
	} {
		verb := admission.Create
		if c.old != nil {
			verb = admission.Update
		}
		err := admit(t, p, request(verb, c.plural, "", "x", c.obj, c.old))
		if c.code == 0 && err != nil || c.code != 0 && (err == nil || err.ErrStatus.Code != c.code) {
			t.Errorf("%s: %v", c.name, err)
		}
		root := request(verb, c.plural, "", "x", c.obj, c.old)
		root.User = &auth.User{Name: "root", Groups: []string{auth.MastersGroup}}
		if err := admit(t, p, root); err != nil {
			t.Errorf("%s by root: %v", c.name, err)
		}
	}
}

func TestTopologyLabels(t *testing.T) {
	w := newWorld()
	w["nodes"] = []metav1.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{
		corev1.LabelTopologyZone: "z1", corev1.LabelTopologyRegion: "r1", "other": "x",
	}}}}
	p := admission.PodTopologyLabels{Lookup: w}
	for _, node := range []string{"n1", "gone"} {
		b := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		r := request(admission.Create, "pods", "shop", "p", b, nil)
		r.Subresource = "binding"
		if err := admit(t, p, r); err != nil {
			t.Fatal(err)
		}
		if node == "gone" && len(b.Labels) > 0 || node == "n1" && (len(b.Labels) != 2 || b.Labels[corev1.LabelTopologyZone] != "z1") {
			t.Errorf("bound to %s: %v", node, b.Labels)
		}
	}
	pd := pod(func(p *corev1.Pod) {
		p.Spec.NodeName, p.Labels = "n1", map[string]string{corev1.LabelTopologyRegion: "mine"}
	})
	if err := admit(t, p, request(admission.Create, "pods", "shop", "p", pd, nil)); err != nil || pd.Labels[corev1.LabelTopologyRegion] != "r1" {
		t.Errorf("created on a node: %v %v", err, pd.Labels)
	}
}

func TestClaimResize(t *testing.T) {
	w := newWorld()
	yes := true
	w["storageclasses"] = []metav1.Object{
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, AllowVolumeExpansion: &yes},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fixed"}},
	}
	claim := func(class, size string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
		c.Spec.StorageClassName = &class
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		return c
	}
	for _, c := range []struct {
		class, from, to string
		phase           corev1.PersistentVolumeClaimPhase
		refused         string
	}{
		{"grows", "1Gi", "2Gi", corev1.ClaimBound, ""},
		{"fixed", "1Gi", "1Gi", corev1.ClaimBound, ""},
		{"fixed", "1Gi", "2Gi", corev1.ClaimBound, "only dynamically provisioned pvc can be resized"},
		{"gone", "1Gi", "2Gi", corev1.ClaimBound, "only dynamically provisioned pvc can be resized"},
		{"grows", "1Gi", "2Gi", corev1.ClaimPending, "Only bound persistent volume claims can be expanded"},
	} {
		r := request(admission.Update, "persistentvolumeclaims", "shop", "c", claim(c.class, c.to, c.phase), claim(c.class, c.from, c.phase))
		err := admit(t, admission.ClaimResize{Lookup: w}, r)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.ErrStatus.Message, c.refused) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
