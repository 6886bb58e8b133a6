package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/node"
)

func catalog(t *testing.T, text string) *node.Devices {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gpus.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := node.LoadDevices(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// joined waits until a node that was started at a time has registered, which it does before it renews its Lease.
func joined(t *testing.T, env controller.Env, name string, at time.Time) {
	t.Helper()
	await(t, client.For[*coordinationv1.Lease](env.Client).Namespace(corev1.NamespaceNodeLease), name, "renewed", func(l *coordinationv1.Lease) bool {
		return l.Spec.RenewTime != nil && l.Spec.RenewTime.After(at)
	})
}

// Nodes publish the devices of their catalog, which stay as they are when the nodes start again, and get a new
// generation when the catalog is another.
func TestPublishedDevices(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	all := client.For[*resourcev1.ResourceSlice](env.Client)
	// published starts nodes until they have joined, and describes their devices and the generations of their pools.
	published := func(text string) (devices []string) {
		began := time.Now()
		stop := start(t, env, node.Options{Count: 2, Devices: catalog(t, text)})
		defer stop()
		for _, name := range []string{"node-1", "node-2"} {
			joined(t, env, name, began)
		}
		list, err := all.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Items {
			owner, err := nodes.Get(t.Context(), *s.Spec.NodeName)
			if err != nil || !metav1.IsControlledBy(s, owner) {
				t.Errorf("%s is not owned by its node: %v", s.Name, err)
			}
			of := fmt.Sprintf("%s@%d/%d", s.Spec.Pool.Name, s.Spec.Pool.Generation, s.Spec.Pool.ResourceSliceCount)
			for _, c := range s.Spec.SharedCounters {
				q := c.Counters["memory"].Value
				devices = append(devices, of+" counters "+c.Name+" memory="+q.String())
			}
			for _, d := range s.Spec.Devices {
				text := of + " " + d.Name + " " + *d.Attributes["profile"].StringValue
				if domain := d.Attributes["nvlinkDomain"].StringValue; domain != nil {
					text += " " + *domain
				}
				for _, use := range d.ConsumesCounters {
					q := use.Counters["memory"].Value
					text += " " + use.CounterSet + "-" + q.String()
				}
				for _, taint := range d.Taints {
					text += " " + taint.Key + ":" + string(taint.Effect)
				}
				devices = append(devices, text)
			}
		}
		slices.Sort(devices)
		return devices
	}
	const text = `
driver: gpu.example.com
class: gpu
extendedResourceName: example.com/gpu
models:
- name: h100
  count: 2
  nodes: [node-1]
  capacity: {memory: 80Gi}
  attributes: {architecture: hopper, generation: 9}
  nvlinkSize: 2
  partitions: [{name: half, count: 2, capacity: {memory: 40Gi}}]
- {name: t4, count: 1, nodes: [node-2]}
failures: {nodes: [node-2], effect: NoExecute}
`
	want := []string{
		"node-1@1/2 counters h100-0 memory=80Gi",
		"node-1@1/2 counters h100-1 memory=80Gi",
		"node-1@1/2 h100-0 whole h100-0 h100-0-80Gi",
		"node-1@1/2 h100-0-half-0 half h100-0 h100-0-40Gi",
		"node-1@1/2 h100-0-half-1 half h100-0 h100-0-40Gi",
		"node-1@1/2 h100-1 whole h100-0 h100-1-80Gi",
		"node-1@1/2 h100-1-half-0 half h100-0 h100-1-40Gi",
		"node-1@1/2 h100-1-half-1 half h100-0 h100-1-40Gi",
		"node-2@1/1 t4-0 whole fairlead.dev/failed:NoExecute",
	}
	for _, when := range []string{"first", "again"} {
		if got := published(text); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	class, err := client.For[*resourcev1.DeviceClass](env.Client).Get(t.Context(), "gpu")
	if err != nil || *class.Spec.ExtendedResourceName != "example.com/gpu" {
		t.Errorf("class %+v, %v", class, err)
	}
	want = []string{"node-1@2/1 t4-0 whole", "node-2@2/1 t4-0 whole"}
	if got := published("driver: gpu.example.com\nmodels: [{name: t4, count: 1}]"); !slices.Equal(got, want) {
		t.Errorf("another catalog:\n%s", strings.Join(got, "\n"))
	}
}

// A share of the devices fails, the same ones each time.
func TestFailureRate(t *testing.T) {
	env, began := served(t), time.Now()
	stop := start(t, env, node.Options{Count: 1, Devices: catalog(t, "driver: g.example.com\nmodels: [{name: a, count: 1000}]\nfailures: {rate: 0.1}")})
	defer stop()
	joined(t, env, "node-1", began)
	list, err := client.For[*resourcev1.ResourceSlice](env.Client).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var failed, devices int
	for _, s := range list.Items {
		for _, d := range s.Spec.Devices {
			devices++
			failed += len(d.Taints)
		}
	}
	if failed < 60 || failed > 140 || devices != 1000 || len(list.Items) != 16 {
		t.Errorf("%d of %d devices failed, in %d slices", failed, devices, len(list.Items))
	}
}
