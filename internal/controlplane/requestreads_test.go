package controlplane_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

var currentRequests = regexp.MustCompile(`(?m)^etcd_request_duration_seconds_count\{[^}]*operation="getCurrentResourceVersion"[^}]*\} (\d+)`)

// TestRequestsAskTheStoreOnce: a request asks the store for its current revision once, however many objects authentication,
// admission and the verb read. Other parts of the server ask, too, so that the count has some room.
func TestRequestsAskTheStoreOnce(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	c := controlplanetest.Clientset(t, cp)
	ctx := t.Context()
	asked := func() (sum int) {
		t.Helper()
		text, err := c.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range currentRequests.FindAllSubmatch(text, -1) {
			n, _ := strconv.Atoi(string(m[1]))
			sum += n
		}
		return sum
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}))
	must(c.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{}))
	token, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(token, err)
	config := rest.AnonymousClientConfig(cp.Config())
	config.QPS, config.BearerToken = -1, token.Status.Token
	account, err := kubernetes.NewForConfig(config)
	must(account, err)
	pods := account.CoreV1().Pods("default")
	const times = 100
	for _, step := range []struct {
		verb string
		do   func(name string) (any, error)
	}{
		{"create", func(name string) (any, error) {
			return pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}, metav1.CreateOptions{})
		}},
		{"get", func(name string) (any, error) { return pods.Get(ctx, name, metav1.GetOptions{}) }},
		{"patch", func(name string) (any, error) {
			return pods.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		}},
		{"delete", func(name string) (any, error) { return nil, pods.Delete(ctx, name, metav1.DeleteOptions{}) }},
	} {
		before := asked()
		for i := range times {
			must(step.do(fmt.Sprintf("p%d", i)))
		}
		if n := asked() - before; n > times*3/2 {
			t.Errorf("%d times %s asked the store %d times", times, step.verb, n)
		}
	}
}
