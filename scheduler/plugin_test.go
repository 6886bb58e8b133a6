package scheduler_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/scheduler"
)

// namespaces implements scheduler.Objects for a plugin that reads the labels of namespaces.
type namespaces map[string]map[string]string

var _ scheduler.Objects = namespaces{}

func (n namespaces) NamespaceLabels(name string) map[string]string                    { return n[name] }
func (namespaces) Services(string, map[string]string) []*corev1.Service               { return nil }
func (namespaces) OwnerSelector(string, *metav1.OwnerReference) *metav1.LabelSelector { return nil }
func (namespaces) Budgets(string) []*policyv1.PodDisruptionBudget                     { return nil }
func (namespaces) Claim(string, string) (*corev1.PersistentVolumeClaim, bool)         { return nil, false }
func (namespaces) Volume(string) (*corev1.PersistentVolume, bool)                     { return nil, false }
func (namespaces) Volumes(string) []*corev1.PersistentVolume                          { return nil }
func (namespaces) Class(string) (*storagev1.StorageClass, bool)                       { return nil, false }
func (namespaces) CSINode(string) (*storagev1.CSINode, bool)                          { return nil, false }
func (namespaces) CSIDriver(string) (*storagev1.CSIDriver, bool)                      { return nil, false }
func (namespaces) Attachments(string) []*storagev1.VolumeAttachment                   { return nil }
func (namespaces) Capacities(string) []*storagev1.CSIStorageCapacity                  { return nil }
func (namespaces) BindVolumes(context.Context, *corev1.Node, []scheduler.ClaimBinding) error {
	return nil
}

// onePerTeam allows one pod a node of each team, where the team is a label of the namespace.
type onePerTeam struct{}

func (onePerTeam) Name() string { return "OnePerTeam" }
func (onePerTeam) PreFilter(c *scheduler.Cluster, p *scheduler.PodInfo) (scheduler.FilterFunc, scheduler.Status) {
	teamOf := func(p *scheduler.PodInfo) string { return c.Objects.NamespaceLabels(p.Pod.Namespace)["team"] }
	team := teamOf(p)
	if team == "" {
		return nil, scheduler.Unresolvable("namespace has no team")
	}
	return func(n *scheduler.NodeInfo) scheduler.Status {
		for _, other := range n.Pods {
			if teamOf(other) == team {
				return scheduler.Unschedulable("node(s) had a pod of the team")
			}
		}
		return scheduler.Status{}
	}, scheduler.Status{}
}
func (onePerTeam) EventsToRegister() scheduler.EventKind { return scheduler.PodRemoved }
func (onePerTeam) QueueingHint(*scheduler.PodInfo, *scheduler.ClusterEvent) bool {
	return true
}

// TestFilterOutsideThePackage runs a plugin as its author would in a unit test: against a
// Cluster, with Objects of the test's own.
func TestFilterOutsideThePackage(t *testing.T) {
	c := scheduler.NewCluster(namespaces{"web": {"team": "a"}, "shop": {"team": "a"}, "db": {"team": "b"}, "other": nil})
	pod := func(namespace string) *scheduler.PodInfo {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.UID = namespace, "p", "p"
		return scheduler.NewPodInfo(p)
	}
	for _, name := range []string{"n1", "n2"} {
		n := &corev1.Node{}
		n.Name = name
		c.SetNode(n)
	}
	c.AddPod(pod("web"), "n1")
	for namespace, want := range map[string][2]bool{"shop": {false, true}, "db": {true, true}} {
		check, status := onePerTeam{}.PreFilter(c, pod(namespace))
		if !status.IsSuccess() {
			t.Fatalf("%s: %v", namespace, status)
		}
		if got := [2]bool{check(c.Node("n1")).IsSuccess(), check(c.Node("n2")).IsSuccess()}; got != want {
			t.Errorf("a pod of %s fits n1, n2: %v, want %v", namespace, got, want)
		}
	}
	if _, status := (onePerTeam{}).PreFilter(c, pod("other")); status.IsSuccess() || !status.Unresolvable {
		t.Errorf("without a team: %+v", status)
	}
}
