package testcluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"fairlead.dev/testcluster"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The zero value of Options runs everything: a Deployment is rolled out. The end of the test ends the process.
func TestNew(t *testing.T) {
	check := isolate(t)
	var config *rest.Config
	t.Run("everything", func(t *testing.T) {
		env := testcluster.New(t, testcluster.Options{})
		config = env.Config()
		c := kubernetes.NewForConfigOrDie(config)
		labels := map[string]string{"app": "web"}
		replicas := int32(3)
		d, err := c.AppsV1().Deployments("default").Create(context.Background(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
				},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		env.WaitFor(t, d, func() bool { return d.Status.ReadyReplicas == 3 })
		if err := c.AppsV1().Deployments("default").Delete(context.Background(), "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		env.WaitGone(t, d)
		env.Eventually(t, "the pods to be collected", func(ctx context.Context) error {
			pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
			if err == nil && len(pods.Items) > 0 {
				err = fmt.Errorf("%d pods are left", len(pods.Items))
			}
			return err
		})
		if _, err := os.Stat(env.KubeconfigPath()); err != nil {
			t.Error(err)
		}
	})
	check()
	if _, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion(); err == nil {
		t.Error("the server still answers")
	}
}

func TestUser(t *testing.T) {
	env := testcluster.New(t, small())
	ctx := context.Background()
	ada := kubernetes.NewForConfigOrDie(env.User("ada", "devs"))
	if _, err := ada.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"ada"`) {
		t.Errorf("without a binding: %v", err)
	}
	_, err := kubernetes.NewForConfigOrDie(env.Config()).RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "devs"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "devs"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	env.Eventually(t, "the group's rights", func(ctx context.Context) error {
		_, err := ada.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return err
	})
	root := kubernetes.NewForConfigOrDie(env.User("root", "system:masters"))
	if _, err := root.CoreV1().Secrets("").List(ctx, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	o := small()
	o.Faults = []testcluster.Fault{{Action: "fail", Resource: "configmaps", Code: http.StatusConflict}}
	env := testcluster.New(t, o)
	ctx := context.Background()
	maps := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().ConfigMaps("default")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("the first write: %v", err)
	}
	if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		t.Errorf("the second write: %v", err)
	}
	remove, err := env.AddFault(ctx, testcluster.Fault{Action: "fail", Resource: "configmaps", Times: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "x", metav1.DeleteOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("a failing write: %v", err)
	}
	if err := remove(ctx); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "x", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := env.AddFault(ctx, testcluster.Fault{Action: "explode"}); err == nil || !strings.Contains(err.Error(), "explode") {
		t.Errorf("an unknown action: %v", err)
	}
}

// Stages of one's own: here pods never leave Pending.
func TestStages(t *testing.T) {
	env := testcluster.New(t, testcluster.Options{Nodes: 1, Stages: testcluster.Objects{Values: []any{map[string]any{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": map[string]any{"name": "label"},
		"spec": map[string]any{
			"resourceRef": map[string]any{"apiGroup": "v1", "kind": "Pod"},
			"selector":    map[string]any{"matchExpressions": []any{map[string]any{"key": ".status.phase", "operator": "In", "values": []any{"Pending"}}}},
			"next":        map[string]any{"statusTemplate": "phase: Failed\nreason: ByTheStage\n"},
		},
	}}}})
	pods := kubernetes.NewForConfigOrDie(env.Config()).CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "default"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
	env.Eventually(t, "the pod's creation", func(ctx context.Context) error { // its service account comes first
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	env.WaitFor(t, pod, func() bool { return pod.Status.Reason == "ByTheStage" })
}

// Start is for programs and suites, and its log for a writer.
func TestStart(t *testing.T) {
	check := isolate(t)
	o := small()
	logged := &strings.Builder{}
	o.Log = logged
	env, err := testcluster.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	url, err := env.PageURL(context.Background())
	if err != nil || !strings.HasPrefix(url, env.Config().Host+"/ui/") {
		t.Errorf("page: %q, %v", url, err)
	}
	if err := errors.Join(env.Stop(), env.Stop()); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(io.Discard, logged.String()); err != nil || !strings.Contains(logged.String(), "Stopping") {
		t.Errorf("log: %s", logged)
	}
	check()
}
