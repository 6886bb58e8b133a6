package schedulerplugins_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/schedulerplugins"
)

// groupCluster is a control plane with a node and pod groups, whose scheduler has plugins.
type groupCluster struct {
	*testing.T
	clients *kubernetes.Clientset
	pods    client.Resource[*corev1.Pod]
}

func startWithGroups(t *testing.T, configuration string, opts ...schedulerplugins.Option) *groupCluster {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err == nil {
		err = all.Set("GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true")
	}
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplanetest.Start(t, controlplane.Options{Nodes: 1, Controllers: []string{"serviceaccount", "nodelifecycle"}, API: gates.API{
		Gates: all, Asked: []schema.GroupVersionResource{
			schedulingv1beta1.SchemeGroupVersion.WithResource("podgroups"), schedulingv1alpha3.SchemeGroupVersion.WithResource("compositepodgroups"),
		},
	}})
	c := &groupCluster{t, kubernetes.NewForConfigOrDie(cp.Config()), client.For[*corev1.Pod](controlplanetest.Client(t, cp)).Namespace("default")}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- schedulerplugins.Run(ctx, cp.Config(), []byte(header+configuration), opts...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := c.clients.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return c
}

func (c *groupCluster) must(_ any, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// composite creates a group of groups.
func (c *groupCluster) composite(name string) {
	c.Helper()
	g := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	g.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 1}
	c.must(c.clients.SchedulingV1alpha3().CompositePodGroups("default").Create(c.Context(), g, metav1.CreateOptions{}))
}

// group creates a gang, in a group of groups if parent has its name.
func (c *groupCluster) group(name, parent string, pods int32) {
	c.Helper()
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if parent != "" {
		g.Spec.ParentCompositePodGroupName = &parent
		g.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	}
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: pods}
	c.must(c.clients.SchedulingV1beta1().PodGroups("default").Create(c.Context(), g, metav1.CreateOptions{}))
}

// pod creates a pod, on a node and in a group unless these are empty.
func (c *groupCluster) pod(name, node, group string) {
	c.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "c"}}}}
	if group != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	}
	c.must(c.clients.CoreV1().Pods("default").Create(c.Context(), p, metav1.CreateOptions{}))
}

func (c *groupCluster) bound(names ...string) {
	c.Helper()
	for _, name := range names {
		waittest.One(c.T, c.pods, name, "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	}
}
