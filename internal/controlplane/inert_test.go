package controlplane_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// warnings keeps the texts of Warning headers.
type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// TestInertKinds: a client that writes an object of a kind without a controller gets a
// warning.
func TestInertKinds(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Limits: controlplane.Limits{NoFairness: true}})
	var told warnings
	config := cp.Config()
	config.WarningHandler = &told
	client := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient()
	for _, c := range []struct{ path, object, patch, want string }{
		{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", `{"spec":{"priorityLevelConfiguration":{"name":"global-default"},"matchingPrecedence":9000}}`,
			`{"spec":{"matchingPrecedence":9001}}`, "does not tell requests apart"},
		{"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", `{"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":3,"limitResponse":{"type":"Reject"}}}}`,
			`{"spec":{"limited":{"nominalConcurrencyShares":4}}}`, "does not tell requests apart"},
	} {
		object := strings.Replace(c.object, "{", `{"metadata":{"name":"inert"},`, 1)
		if err := client.Post().AbsPath(c.path).SetHeader("Content-Type", "application/json").Body([]byte(object)).Do(t.Context()).Error(); err != nil {
			t.Error(err)
			continue
		}
		if got := told.take(); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("a create in %s is answered with the warnings %q", c.path, got)
		}
		if err := client.Patch(types.MergePatchType).AbsPath(c.path + "/inert").Body([]byte(c.patch)).Do(t.Context()).Error(); err != nil {
			t.Error(err)
		}
		if got := told.take(); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("a patch in %s is answered with the warnings %q", c.path, got)
		}
		if err := client.Get().AbsPath(c.path + "/inert").Do(t.Context()).Error(); err != nil || len(told.take()) > 0 {
			t.Errorf("a read in %s warns, or fails: %v", c.path, err)
		}
	}
}

// TestSchedulingGroup: with the gate off a pod's schedulingGroup is dropped, as by
// kube-apiserver with its gate GenericWorkload off, and the client gets a warning.
func TestSchedulingGroup(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Scheduler: true, Nodes: 1, Controllers: []string{"nodelifecycle"}})
	var told warnings
	config := rest.CopyConfig(cp.Config())
	config.WarningHandler = &told
	c := kubernetes.NewForConfigOrDie(config)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false), Containers: []corev1.Container{{Name: "main", Image: "web"}},
		SchedulingGroup: &corev1.PodSchedulingGroup{PodGroupName: ptr.To("together")},
	}
	pod, err := c.CoreV1().Pods("default").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: spec}, metav1.CreateOptions{})
	if err != nil || pod.Spec.SchedulingGroup != nil {
		t.Errorf("%v %+v", err, pod.Spec.SchedulingGroup)
	}
	if got := told.take(); len(got) != 1 || got[0] != "spec.schedulingGroup: dropped, since the feature gate GenericWorkload is off: the pod is scheduled by itself" {
		t.Errorf("the warnings are %q", got)
	}
	watch, err := c.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=p"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	placed := false
	for e := range watch.ResultChan() {
		if placed = e.Object.(*corev1.Pod).Spec.NodeName != ""; placed {
			break
		}
	}
	if !placed {
		t.Error("the pod is held")
	}
	labels := map[string]string{"app": "d"}
	d, err := c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: spec.Containers, SchedulingGroup: spec.SchedulingGroup}},
	}}, metav1.CreateOptions{})
	if err != nil || d.Spec.Template.Spec.SchedulingGroup != nil {
		t.Errorf("%v %+v", err, d.Spec.Template.Spec.SchedulingGroup)
	}
	if got := told.take(); len(got) != 1 || !strings.HasPrefix(got[0], "spec.template.spec.schedulingGroup: dropped") {
		t.Errorf("the warnings are %q", got)
	}
}
