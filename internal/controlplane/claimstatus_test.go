package controlplane_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

// claimWriters is a control plane on which service accounts write the status of claims.
type claimWriters struct {
	*testing.T
	*kubernetes.Clientset
	config *rest.Config
}

func newClaimWriters(t *testing.T, o controlplane.Options) *claimWriters {
	cp := controlplanetest.Start(t, o)
	return &claimWriters{t, controlplanetest.Clientset(t, cp), cp.Config()}
}

// account makes a service account that may write the status of claims and has the given rights besides, each
// as "verb subresource", in its namespace or, marked with "everywhere", in all. It returns a client of the account, whose
// token is bound to a pod on a node unless node is empty.
func (w *claimWriters) account(name, node string, rights ...string) *kubernetes.Clientset {
	w.Helper()
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: name}}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"update", "patch"}, APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaims/status"}}}
	var everywhere []rbacv1.PolicyRule
	for _, right := range rights {
		words := strings.Fields(right)
		rule := rbacv1.PolicyRule{Verbs: words[:1], APIGroups: []string{"resource.k8s.io"}, Resources: []string{"resourceclaims/" + words[1]}}
		if slices.Contains(words, "everywhere") {
			everywhere = append(everywhere, rule)
			continue
		}
		rule.ResourceNames = words[2:]
		rules = append(rules, rule)
	}
	role := metav1.ObjectMeta{Name: name}
	_, err := w.RbacV1().Roles("default").Create(w.Context(), &rbacv1.Role{ObjectMeta: role, Rules: rules}, metav1.CreateOptions{})
	if err == nil {
		_, err = w.RbacV1().RoleBindings("default").Create(w.Context(), &rbacv1.RoleBinding{ObjectMeta: role, Subjects: subject,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = w.RbacV1().ClusterRoles().Create(w.Context(), &rbacv1.ClusterRole{ObjectMeta: role, Rules: everywhere}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = w.RbacV1().ClusterRoleBindings().Create(w.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: role, Subjects: subject,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}}, metav1.CreateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
	config := rest.CopyConfig(w.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:default:" + name}
	if node != "" {
		config.Impersonate.Extra = map[string][]string{"authentication.kubernetes.io/node-name": {node}}
	}
	return kubernetes.NewForConfigOrDie(config)
}

// allocated makes a claim that has the devices a.example.com/a and b.example.com/b on a node.
func (w *claimWriters) allocated(name, node string) *resourcev1.ResourceClaim {
	w.Helper()
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: "ExactCount", Count: 2}}}
	c, err := w.ResourceV1().ResourceClaims("default").Create(w.Context(), c, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	c.Status.Allocation = &resourcev1.AllocationResult{
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}},
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "a.example.com", Pool: "p", Device: "a"}, {Request: "gpu", Driver: "b.example.com", Pool: "p", Device: "b"}}},
	}
	if c, err = w.ResourceV1().ResourceClaims("default").UpdateStatus(w.Context(), c, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	return c
}

func deviceReport(letter, data string) resourcev1.AllocatedDeviceStatus {
	return resourcev1.AllocatedDeviceStatus{Driver: letter + ".example.com", Pool: "p", Device: letter,
		Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: data, LastTransitionTime: metav1.Unix(1, 0)}}}
}

// TestClaimStatusRights has accounts write the status of claims: the allocation needs the right to bind, everywhere, and
// reports of drivers the right for each driver whose reports change, on the account's own node or any.
func TestClaimStatusRights(t *testing.T) {
	w := newClaimWriters(t, controlplane.Options{})
	const binding, devices = "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires", "status.devices: Forbidden: changing status.devices requires"
	report := func(of ...string) func(*resourcev1.ResourceClaimStatus) {
		return func(s *resourcev1.ResourceClaimStatus) {
			s.Devices = nil
			for _, one := range of {
				s.Devices = append(s.Devices, deviceReport(one, "New"))
			}
		}
	}
	reserve := func(s *resourcev1.ResourceClaimStatus) {
		s.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p", UID: "u"}}
	}
	for _, c := range []struct {
		name, node string
		rights     []string
		before     func(*resourcev1.ResourceClaimStatus) // done by the administrator
		change     func(*resourcev1.ResourceClaimStatus)
		want       []string // in the error; empty if the write is allowed
	}{
		{name: "nothing", change: func(*resourcev1.ResourceClaimStatus) {}},
		{name: "consumer", change: reserve, want: []string{binding + ` resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: ` +
			`User "system:serviceaccount:default:consumer" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope`}},
		{name: "consumer-bound", rights: []string{"update binding everywhere"}, change: reserve},
		{name: "consumer-bound-here", rights: []string{"update binding"}, change: reserve, want: []string{binding}},
		{name: "consumer-wrong-verb", rights: []string{"patch binding everywhere"}, change: reserve, want: []string{binding}},
		{name: "deallocate", change: func(s *resourcev1.ResourceClaimStatus) { s.Allocation = nil }, want: []string{binding}},
		{name: "deallocate-reported", rights: []string{"update binding everywhere"}, before: report("a"), change: func(s *resourcev1.ResourceClaimStatus) { s.Allocation = nil }},
		{name: "report", change: report("a"), want: []string{devices + ` resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission: resourceclaims.resource.k8s.io "a.example.com" is forbidden: ` +
			`User "system:serviceaccount:default:report" cannot arbitrary-node:update resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"`}},
		{name: "report-any-node", rights: []string{"arbitrary-node:update driver a.example.com"}, change: report("a")},
		{name: "report-own-node", node: "n1", rights: []string{"associated-node:update driver a.example.com"}, change: report("a")},
		{name: "report-own-node-by-any", node: "n1", rights: []string{"arbitrary-node:update driver a.example.com"}, change: report("a")},
		{name: "report-own-node-refused", node: "n1", change: report("a"), want: []string{`verb="[associated-node:update arbitrary-node:update]" permission`, "cannot associated-node:update resource"}},
		{name: "report-other-node", node: "n2", rights: []string{"associated-node:update driver a.example.com"}, change: report("a"), want: []string{`verb="[arbitrary-node:update]" permission`}},
		{name: "two-drivers", rights: []string{"arbitrary-node:update driver a.example.com"}, change: report("a", "b"), want: []string{`"b.example.com" is forbidden`}},
		{name: "two-refused", change: report("b", "a"), want: []string{`"a.example.com" is forbidden`, `"b.example.com" is forbidden`}},
		{name: "other-unchanged", rights: []string{"arbitrary-node:update driver a.example.com"}, before: report("b"), change: report("a", "b")},
		{name: "other-removed", rights: []string{"arbitrary-node:update driver a.example.com"}, before: report("b"), change: report("a"), want: []string{`"b.example.com" is forbidden`}},
		{name: "other-changed", rights: []string{"arbitrary-node:update driver a.example.com"}, before: report("b"), change: func(s *resourcev1.ResourceClaimStatus) {
			s.Devices[0].Conditions[0].Reason = "Newer"
		}, want: []string{`"b.example.com" is forbidden`}},
		{name: "both", rights: []string{"arbitrary-node:update driver"}, change: func(s *resourcev1.ResourceClaimStatus) { report("a")(s); reserve(s) }, want: []string{binding}},
	} {
		claim := w.allocated(c.name, "n1")
		if c.before != nil {
			c.before(&claim.Status)
			var err error
			if claim, err = w.ResourceV1().ResourceClaims("default").UpdateStatus(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c.change(&claim.Status)
		account := w.account(c.name, c.node, c.rights...)
		_, err := account.ResourceV1().ResourceClaims("default").UpdateStatus(t.Context(), claim, metav1.UpdateOptions{})
		if len(c.want) == 0 && err != nil || len(c.want) > 0 && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v\nlacks %s", c.name, err, part)
			}
		}
	}
}

// TestClaimStatusRightsByPatch checks that a patch, and an apply, need the rights of their own verb.
func TestClaimStatusRightsByPatch(t *testing.T) {
	w := newClaimWriters(t, controlplane.Options{})
	w.allocated("c", "n1")
	const text = `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"status":{"devices":[{"driver":"a.example.com","pool":"p","device":"a","data":{"n":1}}]}}`
	updater, patcher := w.account("updater", "n1", "associated-node:update driver"), w.account("patcher", "n1", "associated-node:patch driver")
	for _, kind := range []types.PatchType{types.ApplyPatchType, types.MergePatchType} {
		o := metav1.PatchOptions{}
		if kind == types.ApplyPatchType {
			o.FieldManager = "driver"
		}
		if _, err := updater.ResourceV1().ResourceClaims("default").Patch(t.Context(), "c", kind, []byte(text), o, "status"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "cannot associated-node:patch") {
			t.Errorf("%s by an account that may only update: %v", kind, err)
		}
	}
	got, err := patcher.ResourceV1().ResourceClaims("default").Patch(t.Context(), "c", types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: "driver"}, "status")
	if err != nil || len(got.Status.Devices) != 1 {
		t.Errorf("patch: %v, %v", err, got)
	}
}

// TestClaimStatusRightsGate checks that resourceclaims/status is enough where the feature is off or not there yet.
func TestClaimStatusRightsGate(t *testing.T) {
	for emulated, gate := range map[string]string{gates.Newest: "DRAResourceClaimGranularStatusAuthorization=false", "1.35": ""} {
		all, err := gates.New(version.MustParse(emulated))
		if err == nil {
			err = all.Set(gate)
		}
		if err != nil {
			t.Fatal(err)
		}
		w := newClaimWriters(t, controlplane.Options{API: gates.API{Gates: all}})
		c := w.allocated("c", "n1")
		c.Status.Devices = append(c.Status.Devices, deviceReport("a", "New"))
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p", UID: "u"}}
		if _, err := w.account("c", "").ResourceV1().ResourceClaims("default").UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
			t.Errorf("%s, %q: %v", emulated, gate, err)
		}
	}
}
