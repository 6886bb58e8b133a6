package bootstrap_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/rbac"
)

var options = bootstrap.Options{
	ServiceCIDRs: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}, Address: netip.MustParseAddr("192.0.2.1"), Port: 6443, ClientCA: "pem",
}

// on reports that every gate is on.
func on(string) bool { return true }

func policy() *rbac.Policy {
	var o rbac.Objects
	for _, obj := range bootstrap.Policy(on) {
		switch obj := obj.(type) {
		case *rbacv1.Role:
			o.Roles = append(o.Roles, obj)
		case *rbacv1.RoleBinding:
			o.RoleBindings = append(o.RoleBindings, obj)
		case *rbacv1.ClusterRole:
			o.ClusterRoles = append(o.ClusterRoles, obj)
		case *rbacv1.ClusterRoleBinding:
			o.ClusterRoleBindings = append(o.ClusterRoleBindings, obj)
		}
	}
	return rbac.NewPolicy(o)
}

// TestDefaultPolicy checks permissions that clusters rely on.
func TestDefaultPolicy(t *testing.T) {
	p := policy()
	user := func(name string, groups ...string) *auth.User { return &auth.User{Name: name, Groups: groups} }
	anonymous := user(auth.AnonymousUser, auth.AllUnauthenticated)
	ann := user("ann", auth.AllAuthenticated)
	replicaSets := user("system:serviceaccount:kube-system:replicaset-controller", auth.AllAuthenticated)
	for _, c := range []struct {
		who                 *auth.User
		verb, group, res, n string
		path                string
		want                bool
	}{
		{who: anonymous, verb: "get", path: "/healthz", want: true},
		{who: anonymous, verb: "get", path: "/readyz/log", want: false},
		{who: anonymous, verb: "get", path: "/version", want: true},
		{who: anonymous, verb: "get", path: "/api", want: false},
		{who: anonymous, verb: "list", res: "pods", want: false},
		{who: ann, verb: "get", path: "/apis/apps/v1", want: true},
		{who: ann, verb: "get", path: "/openapi/v3", want: true},
		{who: ann, verb: "get", path: "/metrics", want: false},
		{who: ann, verb: "create", group: "authorization.k8s.io", res: "selfsubjectaccessreviews", want: true},
		{who: ann, verb: "get", res: "secrets", want: false},
		{who: user("root", auth.MastersGroup), verb: "delete", res: "nodes", n: "n1", want: true},
		{who: user("prometheus", auth.MonitoringGroup), verb: "get", path: "/metrics", want: true},
		{who: user("system:kube-scheduler"), verb: "create", res: "pods/binding", n: "p", want: true},
		{who: user("system:kube-scheduler"), verb: "create", res: "pods", want: false},
		{who: user("system:kube-controller-manager"), verb: "watch", group: "any", res: "things", want: true},
		{who: replicaSets, verb: "create", res: "pods", want: true},
		{who: replicaSets, verb: "delete", res: "nodes", n: "n1", want: false},
	} {
		a := auth.Attributes{User: c.who, Verb: c.verb, Path: c.path, IsResource: c.path == "", Group: c.group, Resource: c.res, Name: c.n, Namespace: "x"}
		for i := range c.res {
			if c.res[i] == '/' {
				a.Resource, a.Subresource = c.res[:i], c.res[i+1:]
			}
		}
		if got, why := p.Authorize(a); got != c.want {
			t.Errorf("%s: %v (%s)", auth.ForbiddenMessage(a, ""), got, why)
		}
	}
}

// TestAggregated checks that the aggregated roles list their rules, and that admin includes edit, which includes
// view.
func TestAggregated(t *testing.T) {
	roles := map[string]*rbacv1.ClusterRole{}
	for _, obj := range bootstrap.Policy(on) {
		if r, ok := obj.(*rbacv1.ClusterRole); ok {
			roles[r.Name] = r
		}
	}
	for _, pair := range [][2]string{{"admin", "edit"}, {"edit", "view"}} {
		whole, part := roles[pair[0]], roles[pair[1]]
		if len(part.Rules) == 0 {
			t.Fatalf("%s has no rules", part.Name)
		}
		if lacking := rbac.Lacking(whole.Rules, part.Rules); len(lacking) > 0 {
			t.Errorf("%s lacks of %s: %v", whole.Name, part.Name, lacking)
		}
	}
}

// TestObjects checks that every object is unique and has a name and a kind.
func TestObjects(t *testing.T) {
	seen := map[string]bool{}
	for _, obj := range bootstrap.Objects(options) {
		m, err := meta.Accessor(obj)
		if err != nil {
			t.Fatal(err)
		}
		gvk := obj.GetObjectKind().GroupVersionKind()
		key := gvk.String() + " " + m.GetNamespace() + "/" + m.GetName()
		if gvk.Kind == "" || gvk.Version == "" || m.GetName() == "" || seen[key] {
			t.Errorf("%s is nameless or there twice", key)
		}
		seen[key] = true
	}
	for _, key := range []string{
		"/v1, Kind=Namespace /kube-node-lease",
		"/v1, Kind=Service default/kubernetes",
		"discovery.k8s.io/v1, Kind=EndpointSlice default/kubernetes",
		"scheduling.k8s.io/v1, Kind=PriorityClass /system-node-critical",
		"flowcontrol.apiserver.k8s.io/v1, Kind=FlowSchema /catch-all",
		"rbac.authorization.k8s.io/v1, Kind=ClusterRole /system:node-bootstrapper",
		"rbac.authorization.k8s.io/v1, Kind=RoleBinding kube-system/system::leader-locking-kube-scheduler",
	} {
		if !seen[key] {
			t.Errorf("no %s", key)
		}
	}
}

func find[T runtime.Object](t *testing.T, name string) T {
	t.Helper()
	for _, obj := range bootstrap.Objects(options) {
		if o, ok := obj.(T); ok {
			if m, _ := meta.Accessor(obj); m.GetName() == name {
				return o
			}
		}
	}
	t.Fatalf("no %s", name)
	panic("unreachable")
}

func TestReconcile(t *testing.T) {
	for _, obj := range bootstrap.Objects(options) {
		if out := bootstrap.Reconcile(obj, obj); out != nil {
			t.Errorf("%T is not right as it is: %s", obj, cmp.Diff(obj, out))
		}
	}
	want := find[*rbacv1.ClusterRole](t, "system:basic-user")
	extra := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}

	have := want.DeepCopy()
	have.Rules = []rbacv1.PolicyRule{extra}
	have.Labels = map[string]string{"mine": "yes"}
	out := bootstrap.Reconcile(have, want).(*rbacv1.ClusterRole)
	if len(rbac.Lacking(out.Rules, append(want.Rules, extra))) > 0 || out.Labels["mine"] != "yes" || out.Labels["kubernetes.io/bootstrapping"] == "" {
		t.Errorf("a changed role becomes %+v", out)
	}
	if len(have.Rules) != 1 || len(have.Labels) != 1 {
		t.Error("the present object was changed")
	}
	have.Annotations["rbac.authorization.kubernetes.io/autoupdate"] = "false"
	if out := bootstrap.Reconcile(have, want); out != nil {
		t.Error("a role was changed against its annotation")
	}

	svc := find[*corev1.Service](t, "kubernetes")
	if svc.Spec.ClusterIP != "10.96.0.1" {
		t.Errorf("the kubernetes service is at %s", svc.Spec.ClusterIP)
	}
	moved := svc.DeepCopy()
	moved.Spec.Ports[0].TargetPort.IntVal = 1
	if out := bootstrap.Reconcile(moved, svc).(*corev1.Service); out.Spec.Ports[0].TargetPort.IntVal != 6443 {
		t.Errorf("the service's port stays %v", out.Spec.Ports[0].TargetPort)
	}
}
