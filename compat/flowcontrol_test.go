package compat

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestFlowControlObjects: a new cluster has the FlowSchemas and priority levels of kube-apiserver, with their statuses, and
// requests are matched with the same ones.
func TestFlowControlObjects(t *testing.T) {
	var schemas []map[string]flowcontrolv1.FlowSchema
	var levels []map[string]flowcontrolv1.PriorityLevelConfiguration
	for _, start := range []func(*testing.T, ...string) upstream{startUpstream, startOurs} {
		s, l := flowControlObjects(t, start(t).clients)
		schemas, levels = append(schemas, s), append(levels, l)
	}
	if len(schemas[0]) < 10 || len(levels[0]) < 7 {
		t.Fatalf("%d FlowSchemas and %d levels are too few to tell", len(schemas[0]), len(levels[0]))
	}
	if diff := cmp.Diff(schemas[0], schemas[1]); diff != "" {
		t.Errorf("FlowSchemas (-kube-apiserver +fairlead):\n%s", diff)
	}
	if diff := cmp.Diff(levels[0], levels[1]); diff != "" {
		t.Errorf("priority levels (-kube-apiserver +fairlead):\n%s", diff)
	}
}

// flowControlObjects returns the objects by name, without run-specific metadata, once each FlowSchema has a status.
func flowControlObjects(t *testing.T, c *kubernetes.Clientset) (map[string]flowcontrolv1.FlowSchema, map[string]flowcontrolv1.PriorityLevelConfiguration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		all, err := c.FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		schemas, told := map[string]flowcontrolv1.FlowSchema{}, 0
		for _, s := range all.Items {
			if len(s.Status.Conditions) > 0 {
				told++
			}
			s.ObjectMeta = withoutRun(s.ObjectMeta)
			for i := range s.Status.Conditions {
				s.Status.Conditions[i].LastTransitionTime = metav1.Time{}
			}
			schemas[s.Name] = s
		}
		if told < 10 || told < len(schemas) {
			time.Sleep(100 * time.Millisecond) // the next list is as good as a watch
			continue
		}
		list, err := c.FlowcontrolV1().PriorityLevelConfigurations().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		levels := map[string]flowcontrolv1.PriorityLevelConfiguration{}
		for _, l := range list.Items {
			l.ObjectMeta = withoutRun(l.ObjectMeta)
			levels[l.Name] = l
		}
		return schemas, levels
	}
}

// withoutRun returns the metadata that all runs share.
func withoutRun(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.Name, Labels: m.Labels, Annotations: m.Annotations, Generation: m.Generation}
}
