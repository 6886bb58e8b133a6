//go:build linux && realnode

package realnode

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestService reaches pods on both nodes by a Service's name, its address and its node port.
func TestService(t *testing.T) {
	ns := namespace(t)
	one, two, client := agnhost(ns, "one", "n1"), agnhost(ns, "two", "n2"), agnhost(ns, "client", "n1")
	one.Labels["web"], two.Labels["web"] = "yes", "yes"
	_, err := cluster.Client.CoreV1().Services(ns).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Selector: map[string]string{"web": "yes"},
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(9376)}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	run(t, one, two, client)
	service, err := cluster.Client.CoreV1().Services(ns).Get(t.Context(), "web", metav1.GetOptions{})
	must(t, err)

	// Each of curl's tries is a connection of its own, which either pod may get. The proxies
	// hear of the pods after us: curl tries again when it is refused.
	curl := func(url string) []string {
		return []string{"curl", "-s", "--fail", "--retry", "60", "--retry-delay", "1", "--retry-all-errors", "--max-time", "5", url}
	}
	answers := func(t *testing.T, ask func() string) {
		t.Helper()
		got := map[string]int{}
		for range 100 {
			got[strings.TrimSpace(ask())]++
			if got["one"] > 0 && got["two"] > 0 {
				return
			}
		}
		t.Errorf("100 answers: %v, want both pods'", got)
	}
	fromPod := func(t *testing.T, url string) {
		answers(t, func() string {
			return kubectl(t, append([]string{"-n", ns, "exec", "client", "--"}, curl(url)...)...)
		})
	}
	t.Run("name", func(t *testing.T) { fromPod(t, "http://web") })
	t.Run("full name", func(t *testing.T) { fromPod(t, "http://web."+ns+".svc.cluster.local") })
	t.Run("address", func(t *testing.T) { fromPod(t, "http://"+service.Spec.ClusterIP) })
	for i := range cluster.Nodes {
		t.Run(fmt.Sprintf("node port of n%d", i+1), func(t *testing.T) {
			command := curl(fmt.Sprintf("http://%s:%d", nodeIP(i), service.Spec.Ports[0].NodePort))
			answers(t, func() string { return inside(t, cluster.Server, command[0], command[1:]...) })
		})
	}
}
