package controlplane_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

const gateGroupClaims = "DRAWorkloadResourceClaims"

// startGroupClaims is startGangs for groups with claims. Each node has devices.
func startGroupClaims(t testing.TB, nodes, devices int, controllers ...string) *gangs {
	t.Helper()
	g := startGangsWith(t, nodes, controlplane.Options{
		API:         gangsAPI(t, gateGroupClaims),
		Controllers: append(controllers, "nodelifecycle", "podgroupprotection", "resourceclaim", "garbagecollector"),
	})
	g.deviceClass(t)
	for i := range nodes {
		g.devices(t, fmt.Sprintf("node-%d", i+1), devices)
	}
	return g
}

// deviceTemplate creates a template of claims for one device.
func (g *gangs) deviceTemplate(t testing.TB, name string) {
	t.Helper()
	of := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}},
	}}}
	if _, err := g.ResourceV1().ResourceClaimTemplates("default").Create(g.ctx, of, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// claimingGang creates a gang with claims.
func (g *gangs) claimingGang(t testing.TB, name string, minCount int32, claims ...schedulingv1beta1.PodGroupResourceClaim) *schedulingv1beta1.PodGroup {
	t.Helper()
	pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.PodGroupSpec{ResourceClaims: claims}}
	pg.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	made, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// claimants creates pods of a group with claims.
func (g *gangs) claimants(t testing.TB, group string, from, to int, claims ...corev1.PodResourceClaim) {
	t.Helper()
	for i := from; i < to; i++ {
		p := memberPod(fmt.Sprintf("%s-%d", group, i), group, "1")
		p.Spec.ResourceClaims = claims
		for _, c := range claims {
			p.Spec.Containers[0].Resources.Claims = append(p.Spec.Containers[0].Resources.Claims, corev1.ResourceClaim{Name: c.Name})
		}
		g.create(t, p)
	}
}

func runs(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }

// claim waits until a claim is as it should be; nil stands for one that is gone.
func (g *gangs) claim(t testing.TB, name, what string, ok func(*resourcev1.ResourceClaim) bool) *resourcev1.ResourceClaim {
	t.Helper()
	w, err := g.ResourceV1().ResourceClaims("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) && ok(nil) {
		return nil
	}
	var last *resourcev1.ResourceClaim
	for e := range w.ResultChan() {
		if last, _ = e.Object.(*resourcev1.ResourceClaim); e.Type == "DELETED" {
			last = nil
		}
		if ok(last) {
			return last
		}
	}
	t.Fatalf("the claim %s is never %s: %+v", name, what, last)
	return nil
}

// groupClaim waits for the claim in the status of a group.
func (g *gangs) groupClaim(t testing.TB, group, other string) string {
	t.Helper()
	w, err := g.SchedulingV1beta1().PodGroups("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + group})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if pg, ok := e.Object.(*schedulingv1beta1.PodGroup); ok && len(pg.Status.ResourceClaimStatuses) == 1 {
			if s := pg.Status.ResourceClaimStatuses[0]; s.Name == "gpu" && ptr.Deref(s.ResourceClaimName, other) != other {
				return *s.ResourceClaimName
			}
		}
	}
	t.Fatalf("the group %s never has a claim", group)
	return ""
}

func (g *gangs) deletePods(t testing.TB, group string) {
	t.Helper()
	if err := g.CoreV1().Pods("default").DeleteCollection(g.ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}, metav1.ListOptions{LabelSelector: "group=" + group}); err != nil {
		t.Fatal(err)
	}
}

func (g *gangs) deleteGroup(t testing.TB, name string) {
	t.Helper()
	if err := g.SchedulingV1beta1().PodGroups("default").Delete(g.ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// reservedFor reports whether a claim has devices and is reserved for a group alone.
func reservedFor(c *resourcev1.ResourceClaim, pg *schedulingv1beta1.PodGroup) bool {
	return c != nil && c.Status.Allocation != nil && slices.Equal(c.Status.ReservedFor, []resourcev1.ResourceClaimConsumerReference{
		{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: pg.Name, UID: pg.UID},
	})
}

var (
	groupTemplate = schedulingv1beta1.PodGroupResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpus")}
	podTemplate   = corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("gpus")}
)

// TestGroupClaimOfTemplate: the pods of a gang share the claim that is made for their group. It is reserved for the group until
// that is deleted, and goes with it.
func TestGroupClaimOfTemplate(t *testing.T) {
	g := startGroupClaims(t, 2, 1)
	pg := g.claimingGang(t, "train", 3, groupTemplate)
	g.claimants(t, "train", 0, 3, podTemplate)
	g.deviceTemplate(t, "gpus")
	first := g.groupClaim(t, "train", "")
	c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, first, metav1.GetOptions{})
	if err != nil || !strings.HasPrefix(first, "train-gpu-") || !metav1.IsControlledBy(c, pg) || c.OwnerReferences[0].APIVersion != "scheduling.k8s.io/v1beta1" ||
		c.OwnerReferences[0].Kind != "PodGroup" || c.Annotations["resource.kubernetes.io/pod-claim-name"] != "gpu" {
		t.Fatalf("%v %+v", err, c)
	}
	for i := range 3 {
		p := g.pod(t, fmt.Sprintf("train-%d", i), "running", runs)
		if s := p.Status.ResourceClaimStatuses; len(s) != 1 || s[0].Name != "gpu" || ptr.Deref(s[0].ResourceClaimName, "") != first {
			t.Errorf("the claims of %s are %+v", p.Name, s)
		}
	}
	c = g.claim(t, first, "reserved for the group", func(c *resourcev1.ResourceClaim) bool { return reservedFor(c, pg) })
	node := c.Status.Allocation.Devices.Results[0].Pool
	g.allOn(t, "train", node)
	if list, err := g.ResourceV1().ResourceClaims("default").List(g.ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 1 {
		t.Errorf("%v, %d claims", err, len(list.Items))
	}
	g.deletePods(t, "train")
	g.claimants(t, "train", 3, 6, podTemplate) // a further gang of the group uses the claim again
	for i := 3; i < 6; i++ {
		g.pod(t, fmt.Sprintf("train-%d", i), "running", runs)
	}
	g.allOn(t, "train", node)
	if c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, first, metav1.GetOptions{}); err != nil || !reservedFor(c, pg) {
		t.Errorf("%v %+v", err, c.Status)
	}
	g.deletePods(t, "train")
	g.deleteGroup(t, "train")
	g.claim(t, first, "gone", func(c *resourcev1.ResourceClaim) bool { return c == nil })
}

// TestGroupClaimIsMadeAgain: a group whose claim is deleted before it is used gets another one, and so do its pods.
func TestGroupClaimIsMadeAgain(t *testing.T) {
	g := startGroupClaims(t, 1, 1)
	g.deviceTemplate(t, "gpus")
	g.claimingGang(t, "train", 2, groupTemplate)
	g.claimants(t, "train", 0, 1, podTemplate) // one pod alone waits
	first := g.groupClaim(t, "train", "")
	has := func(name string) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool {
			s := p.Status.ResourceClaimStatuses
			return len(s) == 1 && ptr.Deref(s[0].ResourceClaimName, "") == name
		}
	}
	g.pod(t, "train-0", "told its claim", has(first))
	if err := g.ResourceV1().ResourceClaims("default").Delete(g.ctx, first, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	second := g.groupClaim(t, "train", first)
	g.pod(t, "train-0", "told its new claim", has(second))
	g.claimants(t, "train", 1, 2, podTemplate)
	g.pod(t, "train-0", "running", runs)
	g.pod(t, "train-1", "running", runs)
}

// TestGroupClaimByName: a claim that a group names is reserved for it, and has no devices when the group is gone. Claims of its
// pods that are not the group's are reserved for the pods.
func TestGroupClaimByName(t *testing.T) {
	g := startGroupClaims(t, 2, 5)
	g.deviceClaim(t, "shared")
	g.deviceTemplate(t, "gpus")
	pg := g.claimingGang(t, "train", 2, schedulingv1beta1.PodGroupResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")})
	g.claimants(t, "train", 0, 2,
		corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")},
		corev1.PodResourceClaim{Name: "own", ResourceClaimTemplateName: ptr.To("gpus")})
	for i := range 2 {
		p := g.pod(t, fmt.Sprintf("train-%d", i), "running", runs)
		own := ptr.Deref(p.Status.ResourceClaimStatuses[0].ResourceClaimName, "")
		c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, own, metav1.GetOptions{})
		if err != nil || !metav1.IsControlledBy(c, p) || len(c.Status.ReservedFor) != 1 || c.Status.ReservedFor[0].UID != p.UID {
			t.Errorf("the claim of %s: %v %+v", p.Name, err, c)
		}
	}
	g.claim(t, "shared", "reserved for the group", func(c *resourcev1.ResourceClaim) bool { return reservedFor(c, pg) })
	g.deletePods(t, "train")
	g.deleteGroup(t, "train")
	g.claim(t, "shared", "without devices", func(c *resourcev1.ResourceClaim) bool {
		return c != nil && c.Status.Allocation == nil && len(c.Status.ReservedFor) == 0 && len(c.Finalizers) == 0
	})
}

// onlyOn selects a node.
func onlyOn(node string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}
}

// cordon makes a node unschedulable, and waits until the scheduler knows that: it gets nodes and pods by two watches.
func (g *gangs) cordon(t testing.TB, node string) {
	t.Helper()
	patch := []byte(`{"spec":{"unschedulable":true}}`)
	if _, err := g.CoreV1().Nodes().Patch(g.ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, known := 0, false; !known; i++ {
		p := memberPod(fmt.Sprintf("probe-%d", i), "", "1m")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		g.create(t, p)
		g.pod(t, p.Name, "tried", func(p *corev1.Pod) bool {
			known = slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonUnschedulable })
			return known || p.Spec.NodeName != ""
		})
		if err := g.CoreV1().Pods("default").Delete(g.ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// allocate gives a claim the device of node-1, which some nodes reach, nil means all, and reserves it for a group if that is
// not nil.
func (g *gangs) allocate(t testing.TB, claim string, on *corev1.NodeSelector, pg *schedulingv1beta1.PodGroup) {
	t.Helper()
	var users []resourcev1.ResourceClaimConsumerReference
	if pg != nil {
		users = []resourcev1.ResourceClaimConsumerReference{{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: pg.Name, UID: pg.UID}}
	}
	status, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"finalizers": []string{resourcev1.Finalizer}},
		"status": resourcev1.ResourceClaimStatus{ReservedFor: users, Allocation: &resourcev1.AllocationResult{
			NodeSelector: on, AllocationTimestamp: ptr.To(metav1.Now()),
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: "r", Driver: gangDriver, Pool: "node-1", Device: "gpu-0"},
			}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"", "status"} {
		subs := []string{sub}[:min(len(sub), 1)]
		if _, err := g.ResourceV1().ResourceClaims("default").Patch(g.ctx, claim, types.MergePatchType, status, metav1.PatchOptions{}, subs...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGroupClaimElsewhere: the claim of a gang that has devices where the gang cannot run gets others.
func TestGroupClaimElsewhere(t *testing.T) {
	g := startGroupClaims(t, 2, 1)
	g.deviceClaim(t, "shared")
	pg := g.claimingGang(t, "train", 2, schedulingv1beta1.PodGroupResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")})
	g.allocate(t, "shared", onlyOn("node-1"), pg)
	g.cordon(t, "node-1")
	g.claimants(t, "train", 0, 2, corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")})
	g.bound(t, "train", 2)
	g.allOn(t, "train", "node-2")
	g.claim(t, "shared", "reserved for the group", func(c *resourcev1.ResourceClaim) bool { return reservedFor(c, pg) })
}

// TestGroupClaimIsGivenUp: a gang that fits nowhere gives up a claim that is available everywhere, and uses it when it fits.
func TestGroupClaimIsGivenUp(t *testing.T) {
	g := startGroupClaims(t, 1, 1)
	g.deviceClaim(t, "shared")
	pg := g.claimingGang(t, "train", 2, schedulingv1beta1.PodGroupResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")})
	g.allocate(t, "shared", nil, pg)
	shared := corev1.PodResourceClaim{Name: "gpu", ResourceClaimName: ptr.To("shared")}
	g.claimants(t, "train", 0, 1, shared)
	// The scheduler may try the gang before it knows of the reservation, which it learns by another watch.
	for i, free := 0, false; !free; i++ {
		p := memberPod(fmt.Sprint("large-", i), "train", "40")
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{shared}
		g.create(t, p)
		g.pod(t, p.Name, "tried", func(p *corev1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Reason == corev1.PodReasonUnschedulable })
		})
		c, err := g.ResourceV1().ResourceClaims("default").Get(g.ctx, "shared", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		free = c.Status.Allocation != nil && len(c.Status.ReservedFor) == 0
		if err := g.CoreV1().Pods("default").Delete(g.ctx, p.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	g.claimants(t, "train", 1, 2, shared)
	g.bound(t, "train", 2)
	g.claim(t, "shared", "reserved for the group", func(c *resourcev1.ResourceClaim) bool { return reservedFor(c, pg) })
}

// TestGroupClaimWithoutScheduler: an allocated claim of a group is reserved for the group when a pod of it gets a node by
// itself, and the pod runs.
func TestGroupClaimWithoutScheduler(t *testing.T) {
	g := startGroupClaims(t, 1, 1)
	g.deviceTemplate(t, "gpus")
	pg := g.claimingGang(t, "train", 1, groupTemplate)
	g.allocate(t, g.groupClaim(t, "train", ""), onlyOn("node-1"), nil)
	p := memberPod("placed", "train", "1")
	p.Spec.NodeName, p.Spec.ResourceClaims = "node-1", []corev1.PodResourceClaim{podTemplate}
	g.create(t, p)
	g.pod(t, "placed", "running", runs)
	g.claim(t, g.groupClaim(t, "train", ""), "reserved for the group", func(c *resourcev1.ResourceClaim) bool { return reservedFor(c, pg) })
}

// TestGroupClaimTaints: the pods of a group leave a device of their claim that is tainted.
func TestGroupClaimTaints(t *testing.T) {
	g := startGroupClaims(t, 1, 1, "devicetainteviction")
	g.deviceTemplate(t, "gpus")
	g.claimingGang(t, "train", 2, groupTemplate)
	g.claimants(t, "train", 0, 2, podTemplate)
	for i := range 2 {
		g.pod(t, fmt.Sprintf("train-%d", i), "running", runs)
	}
	s, err := g.ResourceV1().ResourceSlices().Get(g.ctx, "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoExecute}}
	if _, err := g.ResourceV1().ResourceSlices().Update(g.ctx, s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		g.removed(t, fmt.Sprintf("train-%d", i))
	}
}

// TestGroupClaimsGate: without the gate the claims of groups and of the templates of workloads are dropped, and the controller
// may not write groups.
func TestGroupClaimsGate(t *testing.T) {
	for _, on := range []bool{false, true} {
		var more []string
		if on {
			more = []string{gateGroupClaims}
		}
		g := startGangsWith(t, 0, controlplane.Options{API: gangsAPI(t, more...)})
		pg := g.claimingGang(t, "train", 2, groupTemplate)
		if got := len(pg.Spec.ResourceClaims) == 1; got != on {
			t.Errorf("gate %t: the claims of the group are %+v", on, pg.Spec.ResourceClaims)
		}
		status := []byte(`{"status":{"resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"train-gpu-x"}]}}`)
		pg, err := g.SchedulingV1beta1().PodGroups("default").Patch(g.ctx, "train", types.MergePatchType, status, metav1.PatchOptions{}, "status")
		if err != nil || (len(pg.Status.ResourceClaimStatuses) == 1) != on {
			t.Errorf("gate %t: %v, the status is %+v", on, err, pg.Status)
		}
		made, err := g.SchedulingV1beta1().Workloads("default").Create(g.ctx, &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "w"},
			Spec: schedulingv1beta1.WorkloadSpec{PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{
				{Name: "t", SchedulingPolicy: pg.Spec.SchedulingPolicy, ResourceClaims: []schedulingv1beta1.PodGroupResourceClaim{groupTemplate}},
			}}}, metav1.CreateOptions{})
		if err != nil || (len(made.Spec.PodGroupTemplates[0].ResourceClaims) == 1) != on {
			t.Errorf("gate %t: %v, the workload is %+v", on, err, made.Spec)
		}
		role, err := g.RbacV1().ClusterRoles().Get(g.ctx, "system:controller:resource-claim-controller", metav1.GetOptions{})
		if err != nil || strings.Contains(fmt.Sprint(role.Rules), "podgroups/status") != on {
			t.Errorf("gate %t: %v %+v", on, err, role.Rules)
		}
	}
}

// TestGroupClaimsCauses: a group with bad claims gets the causes that kube-apiserver gives.
func TestGroupClaimsCauses(t *testing.T) {
	g := startGangsWith(t, 0, controlplane.Options{API: gangsAPI(t, gateGroupClaims)})
	pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "train"}, Spec: schedulingv1beta1.PodGroupSpec{
		ResourceClaims: []schedulingv1beta1.PodGroupResourceClaim{{Name: "a"}, {Name: "a", ResourceClaimName: ptr.To(".x")}, {ResourceClaimTemplateName: ptr.To("t")}},
	}}
	pg.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1}
	_, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{})
	var got []string
	if s, ok := err.(apierrors.APIStatus); ok && s.Status().Details != nil {
		for _, c := range s.Status().Details.Causes {
			got = append(got, fmt.Sprintf("%s: %s", c.Field, c.Message))
		}
	}
	want := []string{
		`spec.resourceClaims[1]: Duplicate value: {"name":"a","resourceClaimName":".x"}`,
		"spec.resourceClaims[0]: Invalid value: \"\": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
		`spec.resourceClaims[1].resourceClaimName: Invalid value: ".x": a lowercase RFC 1123 subdomain`,
		"spec.resourceClaims[2].name: Required value",
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%v: causes %q, want %q", err, got, want)
	}
}

// TestGroupClaimsGateSwitchedOff: a group keeps its claims when the gate is switched off, and its pods do not get them any more.
func TestGroupClaimsGateSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	first, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, Listen: "127.0.0.1:0", API: gangsAPI(t, gateGroupClaims)})
	if err != nil {
		t.Fatal(err)
	}
	before := &gangs{Clientset: controlplanetest.Clientset(t, first), ctx: t.Context()}
	before.claimingGang(t, "train", 1, groupTemplate)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	g := startGangsWith(t, 1, controlplane.Options{DataDir: dir, API: gangsAPI(t), Controllers: []string{"nodelifecycle", "resourceclaim"}})
	label := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	pg, err := g.SchedulingV1beta1().PodGroups("default").Patch(g.ctx, "train", types.MergePatchType, label, metav1.PatchOptions{})
	if err != nil || len(pg.Spec.ResourceClaims) != 1 {
		t.Errorf("%v, the claims of the group are %+v", err, pg.Spec.ResourceClaims)
	}
	w, err := g.CoreV1().Events("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=train-0,reason=FailedResourceClaimCreation"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	g.deviceTemplate(t, "gpus")
	g.claimants(t, "train", 0, 1, podTemplate)
	for e := range w.ResultChan() {
		const want = "PodResourceClaim gpu: claim gpu is a PodGroup claim but the DRAWorkloadResourceClaims feature is disabled"
		if event, ok := e.Object.(*corev1.Event); ok {
			if event.Message != want {
				t.Errorf("the event is %q, want %q", event.Message, want)
			}
			return
		}
	}
	t.Error("there is no event")
}
