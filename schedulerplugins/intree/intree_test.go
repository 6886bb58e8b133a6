package intree

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/utils/ptr"

	"fairlead.dev/schedulerplugins"
	"fairlead.dev/testenv"
)

// with gives one of kube-scheduler's factories its arguments and no features.
func with(args runtime.Object, f func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)) schedulerplugins.Factory {
	return func(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		return f(ctx, args, h, feature.Features{})
	}
}

var their = map[string]schedulerplugins.Factory{
	"TheirSort":          queuesort.New,
	"TheirNodeName":      with(nil, nodename.New),
	"TheirUnschedulable": with(nil, nodeunschedulable.New),
	"TheirTaints":        with(nil, tainttoleration.New),
	"TheirNodeAffinity":  with(&config.NodeAffinityArgs{}, nodeaffinity.New),
	"TheirPorts":         with(nil, nodeports.New),
	"TheirFit": with(&config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
		Type: config.MostAllocated, Resources: []config.ResourceSpec{{Name: "cpu", Weight: 1}},
	}}, noderesources.NewFit),
	"TheirSpread":   with(&config.PodTopologySpreadArgs{DefaultingType: config.ListDefaulting}, podtopologyspread.New),
	"TheirAffinity": with(&config.InterPodAffinityArgs{}, interpodaffinity.New),
	"TheirBinder":   defaultbinder.New,
}

// TestTheirPlugins places pods by kube-scheduler's plugins alone.
func TestTheirPlugins(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 3, NoScheduler: true, Controllers: []string{"serviceaccount", "nodelifecycle"}})
	clients, err := kubernetes.NewForConfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	var opts []schedulerplugins.Option
	var enabled []string
	for name, f := range their {
		opts = append(opts, schedulerplugins.WithPlugin(name, f))
		enabled = append(enabled, "{name: "+name+"}")
	}
	slices.Sort(enabled)
	configuration := `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: SchedulingGates}, ` + strings.Join(enabled, ", ") + `]`
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- schedulerplugins.Run(ctx, env.Config(), []byte(configuration), opts...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	env.Eventually(t, "the service account", func(ctx context.Context) error {
		_, err := clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	pods := clients.CoreV1().Pods("default")
	create := func(name string, change func(*corev1.Pod)) {
		t.Helper()
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
		p.Name, p.Labels = name, map[string]string{"app": "web"}
		change(p)
		if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bound := func(name string) (node string) {
		t.Helper()
		env.Eventually(t, name+" to be bound", func(ctx context.Context) error {
			p, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if node = p.Spec.NodeName; node == "" {
				return fmt.Errorf("conditions: %+v", p.Status.Conditions)
			}
			return nil
		})
		return node
	}
	held := func(name, want string) {
		t.Helper()
		env.Eventually(t, name+" to be held", func(ctx context.Context) error {
			p, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range p.Status.Conditions {
				if strings.HasPrefix(c.Message, want) {
					return nil
				}
			}
			return fmt.Errorf("conditions: %+v", p.Status.Conditions)
		})
	}

	create("named", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "node-3"} })
	if on := bound("named"); on != "node-3" {
		t.Errorf("named on %s", on)
	}
	create("first", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
	})
	first := bound("first")
	create("packed", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
	})
	if on := bound("packed"); on != first {
		t.Errorf("packed on %s, not on %s", on, first)
	}
	create("huge", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1000")}
	})
	held("huge", "0/3 nodes are available: 3 Insufficient cpu.")
	on := map[string]bool{}
	for i := range 3 {
		name := fmt.Sprintf("apart-%d", i)
		create(name, func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": "apart"}
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
			}}}}
		})
		on[bound(name)] = true
	}
	if len(on) != 3 {
		t.Errorf("pods that avoid one another are on %v", on)
	}
	create("fourth", func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "apart"}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}}}
	})
	held("fourth", "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.")
	if err := pods.Delete(t.Context(), "apart-1", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	bound("fourth")
}
