package compat

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"sort"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// Our server takes over the etcd of a running kube-apiserver: it serves the stored objects,
// byte for byte the same, and each server sees the other's writes.
func TestOurServerOnUpstreamsEtcd(t *testing.T) {
	for _, media := range []string{"application/vnd.kubernetes.protobuf", "application/json"} {
		t.Run(filepath.Base(media), func(t *testing.T) {
			up := startUpstream(t, "--storage-media-type="+media)
			fill(t, up.clients)
			ours := startServer(t, up.etcd)
			compared := 0
			for _, path := range lists(t, up.clients, ours) {
				compared += compare(t, path, up.clients, ours)
			}
			t.Logf("seen: %d objects, the same at both", compared)
			if compared < 100 {
				t.Errorf("%d objects are too few to tell", compared)
			}
			together(t, up.clients, ours)
		})
	}
}

// startServer starts our server over an etcd, and waits until it is ready.
func startServer(t *testing.T, etcd string, args ...string) *kubernetes.Clientset {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "fairlead")
	start(t, bin.fairlead, append([]string{"server", "--etcd-servers", etcd, "--data-dir", dir, fmt.Sprintf("--listen=127.0.0.1:%d", freePort(t))}, args...)...)
	return awaitServer(t, filepath.Join(dir, "kubeconfig"))
}

const adoptedNS = "adopted"

// fill makes objects of many kinds.
func fill(t *testing.T, c *kubernetes.Clientset) {
	t.Helper()
	ctx := context.Background()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: adoptedNS, Labels: map[string]string{"of": name}}
	}
	cluster := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	o := metav1.CreateOptions{}
	three, no := int32(3), false
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{AutomountServiceAccountToken: &no, Containers: []corev1.Container{{
			Name: "web", Image: "web:1",
			Ports:          []corev1.ContainerPort{{ContainerPort: 80}},
			Resources:      corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}},
		}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	never := template
	never.Spec.RestartPolicy = corev1.RestartPolicyNever

	must(c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: cluster(adoptedNS)}, o))
	must(c.CoreV1().ServiceAccounts(adoptedNS).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta("default")}, o))
	must(c.CoreV1().Pods(adoptedNS).Create(ctx, &corev1.Pod{ObjectMeta: meta("pod"), Spec: template.Spec}, o))
	must(c.CoreV1().ConfigMaps(adoptedNS).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("map"), Data: map[string]string{"a": "b\n\"<&>\u2028"}, BinaryData: map[string][]byte{"b": {0, 255}}}, o))
	must(c.CoreV1().Secrets(adoptedNS).Create(ctx, &corev1.Secret{ObjectMeta: meta("secret"), Data: map[string][]byte{"a": []byte("b")}}, o))
	must(c.CoreV1().Services(adoptedNS).Create(ctx, &corev1.Service{ObjectMeta: meta("service"), Spec: corev1.ServiceSpec{Selector: selector.MatchLabels, Ports: []corev1.ServicePort{{Port: 80}}}}, o))
	must(c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: cluster("node")}, o))
	must(c.CoreV1().Events(adoptedNS).Create(ctx, &corev1.Event{ObjectMeta: meta("event"), InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "pod", Namespace: adoptedNS}, Reason: "Why", Type: "Normal"}, o))
	must(c.CoreV1().LimitRanges(adoptedNS).Create(ctx, &corev1.LimitRange{ObjectMeta: meta("limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: "Container", Max: corev1.ResourceList{"cpu": resource.MustParse("2")}}}}}, o))
	must(c.CoreV1().ReplicationControllers(adoptedNS).Create(ctx, &corev1.ReplicationController{ObjectMeta: meta("rc"), Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels, Template: &template}}, o))
	must(c.AppsV1().Deployments(adoptedNS).Create(ctx, &appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{Replicas: &three, Selector: selector, Template: template}}, o))
	must(c.AppsV1().StatefulSets(adoptedNS).Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta("set"), Spec: appsv1.StatefulSetSpec{ServiceName: "service", Selector: selector, Template: template}}, o))
	must(c.AppsV1().DaemonSets(adoptedNS).Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta("daemons"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template}}, o))
	must(c.BatchV1().Jobs(adoptedNS).Create(ctx, &batchv1.Job{ObjectMeta: meta("job"), Spec: batchv1.JobSpec{Template: never}}, o))
	must(c.BatchV1().CronJobs(adoptedNS).Create(ctx, &batchv1.CronJob{ObjectMeta: meta("cron"), Spec: batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: never}}}}, o))
	must(c.AutoscalingV2().HorizontalPodAutoscalers(adoptedNS).Create(ctx, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta("hpa"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MaxReplicas: 5}}, o))
	must(c.NetworkingV1().Ingresses(adoptedNS).Create(ctx, &networkingv1.Ingress{ObjectMeta: meta("ingress"), Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "service", Port: networkingv1.ServiceBackendPort{Number: 80}}}}}, o))
	must(c.NetworkingV1().NetworkPolicies(adoptedNS).Create(ctx, &networkingv1.NetworkPolicy{ObjectMeta: meta("policy")}, o))
	must(c.PolicyV1().PodDisruptionBudgets(adoptedNS).Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: meta("budget"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector, MinAvailable: &intstr.IntOrString{Type: intstr.String, StrVal: "50%"}}}, o))
	must(c.RbacV1().Roles(adoptedNS).Create(ctx, &rbacv1.Role{ObjectMeta: meta("role"), Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}, o))
	must(c.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{ObjectMeta: cluster("class"), Provisioner: "example.com/none"}, o))
}

// lists are the paths of the lists that both serve.
func lists(t *testing.T, theirs, ours *kubernetes.Clientset) (paths []string) {
	t.Helper()
	served := func(c *kubernetes.Clientset) map[string]bool {
		all := map[string]bool{}
		_, groups, err := c.Discovery().ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			base := "/apis/" + g.GroupVersion
			if g.GroupVersion == "v1" {
				base = "/api/v1"
			}
			for _, r := range g.APIResources {
				for _, verb := range r.Verbs {
					if verb == "watch" {
						all[base+"/"+r.Name] = true
					}
				}
			}
		}
		return all
	}
	at := served(theirs)
	for path := range served(ours) {
		if at[path] {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	return paths
}

// compare compares a list, and returns how many objects it has.
func compare(t *testing.T, path string, theirs, ours *kubernetes.Clientset) int {
	t.Helper()
	get := func(c *kubernetes.Clientset) (items []map[string]any) {
		t.Helper()
		b, err := c.Discovery().RESTClient().Get().AbsPath(path).DoRaw(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return list.Items
	}
	a, b := get(theirs), get(ours)
	if len(a) != len(b) {
		t.Errorf("%s: %d objects at theirs, %d at ours", path, len(a), len(b))
		return 0
	}
	for i := range a {
		if reflect.DeepEqual(a[i], b[i]) {
			continue
		}
		// A lease is renewed all the time.
		if name := a[i]["metadata"].(map[string]any)["name"]; path != "/apis/coordination.k8s.io/v1/leases" {
			x, _ := json.Marshal(a[i])
			y, _ := json.Marshal(b[i])
			t.Errorf("%s: %v is\n%s\nat theirs, and\n%s\nat ours", path, name, x, y)
		}
	}
	return len(a)
}

// together writes at each and reads at the other.
func together(t *testing.T, theirs, ours *kubernetes.Clientset) {
	t.Helper()
	ctx := context.Background()
	d, err := ours.AppsV1().Deployments(adoptedNS).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := ours.AppsV1().Deployments(adoptedNS).Watch(ctx, metav1.ListOptions{ResourceVersion: d.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	stale := d.DeepCopy()
	five, seven := int32(5), int32(7)
	d.Spec.Replicas = &five
	if _, err := ours.AppsV1().Deployments(adoptedNS).Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err = theirs.AppsV1().Deployments(adoptedNS).Get(ctx, "web", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 5 || d.Generation != 2 {
		t.Fatalf("theirs reads what ours wrote as %+v, %v", d.Spec.Replicas, err)
	}
	if _, err := theirs.AppsV1().Deployments(adoptedNS).Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("theirs updates what ours has changed: %v", err)
	}
	d.Spec.Replicas = &seven
	if _, err := theirs.AppsV1().Deployments(adoptedNS).Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err = ours.AppsV1().Deployments(adoptedNS).Get(ctx, "web", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 7 || d.Generation != 3 {
		t.Fatalf("ours reads what theirs wrote as %+v, %v", d.Spec.Replicas, err)
	}
	for _, want := range []int32{5, 7} {
		select {
		case e := <-w.ResultChan():
			if got, ok := e.Object.(*appsv1.Deployment); !ok || *got.Spec.Replicas != want {
				t.Fatalf("the watch at ours shows %s %+v, want %d replicas", e.Type, e.Object, want)
			}
		case <-time.After(patience):
			t.Fatal("the watch at ours shows nothing")
		}
	}
	t.Log("seen: each reads, watches and guards what the other writes")
}
