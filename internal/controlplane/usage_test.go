package controlplane_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/server/usage"
)

// metered is a control plane without simulated nodes, on a network of its own in a bubble of time.
type metered struct {
	t       *testing.T
	network *memnet.Network
	objects kubernetes.Interface
	metrics metricsclient.Interface
}

func startMetered(t *testing.T) *metered {
	m := &metered{t: t, network: new(memnet.Network)}
	cp := controlplanetest.Start(t, controlplane.Options{Network: m.network, Controllers: []string{"serviceaccount"}, Scheduler: true})
	m.objects = controlplanetest.Clientset(t, cp)
	config := rest.CopyConfig(cp.Config())
	config.QPS = -1
	m.metrics = metricsclient.NewForConfigOrDie(config)
	return m
}

// node creates the Node of a kubelet that responds by h, at an address of its own.
func (m *metered) node(name, ip string, ready corev1.ConditionStatus, h http.HandlerFunc) {
	m.t.Helper()
	l, err := m.network.Listen(ip + ":10250")
	if err != nil {
		m.t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener.Close()
	s.Listener, s.TLS = l, &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = nil
	s.StartTLS()
	m.t.Cleanup(s.Close)
	nodes := m.objects.CoreV1().Nodes()
	node, err := nodes.Create(m.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"is": name}}}, metav1.CreateOptions{})
	if err == nil {
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}}
		node.Status.DaemonEndpoints.KubeletEndpoint.Port = 10250
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		_, err = nodes.UpdateStatus(m.t.Context(), node, metav1.UpdateOptions{})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// pod creates a pod that runs on a node.
func (m *metered) pod(node, name string) {
	m.t.Helper()
	pods := m.objects.CoreV1().Pods("default")
	pod, err := pods.Create(m.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{NodeName: node, AutomountServiceAccountToken: new(bool), Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	if err == nil {
		pod.Status.Phase = corev1.PodRunning
		_, err = pods.UpdateStatus(m.t.Context(), pod, metav1.UpdateOptions{})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// measured returns the metrics that the server has, by their names.
func (m *metered) measured() (nodes map[string]v1beta1.NodeMetrics, pods map[string]v1beta1.PodMetrics) {
	m.t.Helper()
	synctest.Wait()
	nodes, pods = map[string]v1beta1.NodeMetrics{}, map[string]v1beta1.PodMetrics{}
	all, err := m.metrics.MetricsV1beta1().NodeMetricses().List(m.t.Context(), metav1.ListOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, n := range all.Items {
		nodes[n.Name] = n
	}
	list, err := m.metrics.MetricsV1beta1().PodMetricses("").List(m.t.Context(), metav1.ListOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range list.Items {
		pods[p.Name] = p
	}
	return nodes, pods
}

// TestUsageOfKubelets: metrics.k8s.io has the usage of nodes and pods by the samples of their kubelets, with the times of
// these. A node whose kubelet hangs or responds with something else has no metrics.
func TestUsageOfKubelets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMetered(t)
		began := time.Now()
		var client atomic.Value
		var broken atomic.Bool
		m.node("works", "192.0.2.1", corev1.ConditionTrue, func(w http.ResponseWriter, r *http.Request) {
			if broken.Load() {
				http.Error(w, "no", http.StatusInternalServerError)
				return
			}
			client.Store(r.TLS.PeerCertificates[0].Subject.CommonName + " " + r.URL.Path)
			now := time.Now()
			at, since := now.UnixMilli(), now.Sub(began).Seconds()
			fmt.Fprintf(w, "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total %v %d\n", 1000+since/4, at)
			fmt.Fprintf(w, "# TYPE node_memory_working_set_bytes gauge\nnode_memory_working_set_bytes 3e+09 %d\n", at)
			of := func(pod, container string, cpu, started float64) {
				name := fmt.Sprintf(`{container=%q,namespace="default",pod=%q}`, container, pod)
				fmt.Fprintf(w, "container_cpu_usage_seconds_total%s %v %d\n", name, cpu, at)
				fmt.Fprintf(w, "container_memory_working_set_bytes%s %d %d\n", name, 1<<20, at)
				fmt.Fprintf(w, "container_start_time_seconds%s %v\n", name, started)
			}
			long := float64(began.Add(-time.Hour).Unix())
			of("web", "b", 100+since/2, long)
			of("web", "a", 5+since/10, long)
			of("restarts", "c", 7, float64(at)/1000-1) // each time it has just restarted
			of("fresh", "c", 3, float64(at)/1000-12)   // 0.25 since its start, of which there is no sample
			of("elsewhere", "c", 50+since, long)       // a pod of another node
			of("deleted", "c", 50+since, long)         // a pod that the server does not have
			fmt.Fprintf(w, "container_cpu_usage_seconds_total{container=\"c\",namespace=\"default\",pod=\"half\"} 9 %d\n", at)
		})
		for _, name := range []string{"web", "restarts", "fresh", "half"} {
			m.pod("works", name)
		}
		m.node("hangs", "192.0.2.2", corev1.ConditionTrue, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		m.node("garbage", "192.0.2.3", corev1.ConditionTrue, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{\"kind\": \"no metrics\"}") })
		m.node("nothing", "192.0.2.4", corev1.ConditionTrue, func(http.ResponseWriter, *http.Request) {})
		m.node("endless", "192.0.2.5", corev1.ConditionTrue, func(w http.ResponseWriter, r *http.Request) {
			line := []byte("# " + strings.Repeat("x", 1<<16) + "\n")
			for r.Context().Err() == nil {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		})
		m.pod("garbage", "elsewhere")

		time.Sleep(usage.Timeout)
		nodes, pods := m.measured()
		if len(nodes) > 0 || len(pods) != 1 || pods["fresh"].Name == "" {
			t.Errorf("after one sample there are %v and %v", nodes, pods)
		}
		time.Sleep(usage.Period)
		nodes, pods = m.measured()
		if names := slices.Sorted(maps.Keys(nodes)); !slices.Equal(names, []string{"works"}) {
			t.Errorf("nodes with metrics: %v", names)
		}
		if names := slices.Sorted(maps.Keys(pods)); !slices.Equal(names, []string{"fresh", "web"}) {
			t.Errorf("pods with metrics: %v", names)
		}
		if got := client.Load(); got != "kube-apiserver-kubelet-client /metrics/resource" {
			t.Errorf("the request is %v", got)
		}
		one := nodes["works"]
		if cpu, memory := one.Usage.Cpu().MilliValue(), one.Usage.Memory().Value(); cpu != 250 || memory != 3e9 || one.Labels["is"] != "works" {
			t.Errorf("the node uses %dm and %d bytes: %+v", cpu, memory, one)
		}
		if one.Window.Duration != usage.Period || time.Since(one.Timestamp.Time) > usage.Period {
			t.Errorf("the node's metrics are of %v over %v, at %v", one.Timestamp, one.Window, time.Now())
		}
		web := pods["web"]
		if len(web.Containers) != 2 || web.Containers[0].Name != "a" || web.Containers[0].Usage.Cpu().MilliValue() != 100 ||
			web.Containers[1].Usage.Cpu().MilliValue() != 500 || web.Containers[1].Usage.Memory().Value() != 1<<20 {
			t.Errorf("the pod uses %+v", web.Containers)
		}
		if !web.Timestamp.Equal(&one.Timestamp) || web.Window != one.Window || web.Labels["app"] != "web" {
			t.Errorf("the pod's metrics are of %v over %v, of %v", web.Timestamp, web.Window, web.Labels)
		}
		if fresh := pods["fresh"]; fresh.Window.Duration != 12*time.Second || fresh.Containers[0].Usage.Cpu().MilliValue() != 250 {
			t.Errorf("the pod that has just started uses %+v", fresh)
		}
		if _, err := m.metrics.MetricsV1beta1().NodeMetricses().Get(t.Context(), "hangs", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the node that hangs: %v", err)
		}

		broken.Store(true)
		time.Sleep(2 * usage.Period)
		if nodes, pods := m.measured(); len(nodes) > 0 || len(pods) > 0 {
			t.Errorf("after the kubelet has failed there are %v and %v", nodes, pods)
		}
	})
}

// TestManyKubelets: all kubelets are scraped in each period, a limited number at a time, and one that the node lifecycle
// controller has not heard of is left alone.
func TestManyKubelets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMetered(t)
		began := time.Now()
		var now, most atomic.Int64
		scraped := func(w http.ResponseWriter, r *http.Request) {
			for n := now.Add(1); ; {
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			defer now.Add(-1)
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
			fmt.Fprintf(w, "node_cpu_usage_seconds_total %v\nnode_memory_working_set_bytes 1\n", 1+time.Since(began).Seconds())
		}
		const count = 3 * usage.Concurrent
		for i := range count {
			m.node(fmt.Sprint("node-", i), fmt.Sprintf("192.0.2.%d", i+1), corev1.ConditionTrue, scraped)
		}
		m.node("silent", "192.0.2.254", corev1.ConditionUnknown, func(http.ResponseWriter, *http.Request) { t.Error("the silent node was scraped") })
		time.Sleep(3 * usage.Period)
		if nodes, _ := m.measured(); len(nodes) != count {
			t.Errorf("%d nodes have metrics, want %d", len(nodes), count)
		}
		if n := most.Load(); n != usage.Concurrent {
			t.Errorf("%d scrapes ran at a time, want %d", n, usage.Concurrent)
		}
	})
}
