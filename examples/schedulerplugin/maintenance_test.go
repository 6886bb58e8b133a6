package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/schedulerplugins"
	"fairlead.dev/testenv"
)

// TestMaintenance runs the plugin, by its configuration, in a control plane of the test's own.
func TestMaintenance(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 1, NoScheduler: true})
	clients := kubernetes.NewForConfigOrDie(env.Config())
	annotate := func(value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/maintenance":%s}}}`, value)
		env.Eventually(t, "the node", func(ctx context.Context) error {
			_, err := clients.CoreV1().Nodes().Patch(ctx, "node-1", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		})
	}
	annotate(`"soon"`)
	configuration, err := os.ReadFile("scheduler.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- schedulerplugins.Run(ctx, env.Config(), configuration, schedulerplugins.WithPlugin("Maintenance", New))
	}()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	pods := clients.CoreV1().Pods("default")
	create := func(name string, labels map[string]string) *corev1.Pod {
		t.Helper()
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels}}
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "nginx"}}
		env.Eventually(t, "the service account of pods", func(ctx context.Context) (err error) {
			_, err = pods.Create(ctx, p, metav1.CreateOptions{})
			return err
		})
		return p
	}
	await := func(name, what string, done func(*corev1.Pod) bool) {
		t.Helper()
		env.Eventually(t, name+" "+what, func(ctx context.Context) error {
			p, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err == nil && !done(p) {
				err = fmt.Errorf("on %q: %v", p.Spec.NodeName, p.Status.Conditions)
			}
			return err
		})
	}
	bound := func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }
	create("long", nil)
	await("long", "is held", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && strings.Contains(p.Status.Conditions[0].Message, "1 node(s) were about to be maintained")
	})
	create("short", map[string]string{"example.com/short": "yes"})
	await("short", "is bound", bound)
	annotate("null")
	await("long", "is bound", bound)
}
