package schedulerplugins_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
	"fairlead.dev/schedulerplugins"
)

// TestGroups: a filter reads the groups, and the state of each.
func TestGroups(t *testing.T) {
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
	clients := kubernetes.NewForConfigOrDie(cp.Config())
	seen := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- schedulerplugins.Run(ctx, cp.Config(), []byte(header+"profiles: [{plugins: {multiPoint: {enabled: [{name: Plain}]}}}]"),
			schedulerplugins.WithPlugin("Plain", func(_ context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
				return plain(func(_ *corev1.Pod, _ fwk.NodeInfo) *fwk.Status {
					seen <- groupsOf(h.SnapshotSharedLister())
					return nil
				}), nil
			}))
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = clients.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil && !strings.Contains(err.Error(), "already exists") {
		t.Fatal(err)
	}
	root, train, one := "root", "train", int32(1)
	composite := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: root}}
	composite.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	composite.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: one}
	must(clients.SchedulingV1alpha3().CompositePodGroups("default").Create(ctx, composite, metav1.CreateOptions{}))
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: train}, Spec: schedulingv1beta1.PodGroupSpec{ParentCompositePodGroupName: &root}}
	group.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: "t"}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}
	must(clients.SchedulingV1beta1().PodGroups("default").Create(ctx, group, metav1.CreateOptions{}))
	pods := clients.CoreV1().Pods("default")
	create := func(name, node string, group *corev1.PodSchedulingGroup) {
		t.Helper()
		must(pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
			NodeName: node, SchedulingGroup: group, Containers: []corev1.Container{{Name: "c", Image: "c"}},
		}}, metav1.CreateOptions{}))
	}
	create("a", "node-1", &corev1.PodSchedulingGroup{PodGroupName: &train})
	create("b", "node-1", &corev1.PodSchedulingGroup{PodGroupName: &train})
	create("c", "", &corev1.PodSchedulingGroup{PodGroupName: &train})
	const want = "root of [podgroup/default/train], train for 2: unscheduled c, scheduled a on node-1 b on node-1, all 3; composite pod group default/gone not found"
	for i := range 50 { // the groups may come to the scheduler later than the first pods
		create(fmt.Sprint("asks-", i), "", nil)
		got := <-seen
		if got == want {
			return
		}
		if i == 49 {
			t.Errorf("a filter sees\n%s, want\n%s", got, want)
		}
	}
}

// groupsOf describes the groups root and train.
func groupsOf(l fwk.SharedLister) string {
	root, err := l.CompositePodGroups().Get("default", "root")
	if err != nil {
		return err.Error()
	}
	in, err := l.CompositePodGroupStates().Get("default", "root")
	if err != nil {
		return err.Error()
	}
	train, err := l.PodGroups().Get("default", "train")
	if err != nil {
		return err.Error()
	}
	pods, err := l.PodGroupStates().Get("default", "train")
	if err != nil {
		return err.Error()
	}
	unscheduled, scheduled := slices.Sorted(maps.Keys(pods.UnscheduledPods())), []string{}
	for _, p := range pods.ScheduledPods() {
		scheduled = append(scheduled, p.Name+" on "+p.Spec.NodeName)
	}
	slices.Sort(scheduled)
	_, gone := l.CompositePodGroups().Get("default", "gone")
	return fmt.Sprintf("%s of %v, %s for %d: unscheduled %s, scheduled %s, all %d; %v", root.Name, in.GetChildren(), train.Name, train.Spec.SchedulingPolicy.Gang.MinCount,
		strings.Join(unscheduled, " "), strings.Join(scheduled, " "), pods.AllPods().Len(), gone)
}
