package kubeapiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func makeNodePort(t *testing.T, c *kubernetes.Clientset, name string, port int32) (*corev1.Service, error) {
	t.Helper()
	return c.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}}},
	}, metav1.CreateOptions{})
}

// TestNodePortRange allocates all ports of a range, and starts again with another one.
func TestNodePortRange(t *testing.T) {
	dir := t.TempDir()
	t.Run("a small range", func(t *testing.T) {
		root := startOn(t, dir, "--service-node-port-range=2000-2002", "--kubernetes-service-node-port=2001")("root-token")
		svc, err := root.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		if err != nil || svc.Spec.Type != corev1.ServiceTypeNodePort || svc.Spec.Ports[0].NodePort != 2001 {
			t.Errorf("the Service kubernetes: %v %+v", err, svc.Spec)
		}
		if _, err := makeNodePort(t, root, "out", 30000); !apierrors.IsInvalid(err) || !strings.Contains(message(err), "provided port is not in the valid range. The range of valid ports is 2000-2002") {
			t.Errorf("a port out of the range: %v", err)
		}
		for _, name := range []string{"a", "b"} {
			svc, err := makeNodePort(t, root, name, 0)
			if err != nil || svc.Spec.Ports[0].NodePort != 2000 && svc.Spec.Ports[0].NodePort != 2002 {
				t.Errorf("%s: %v %v", name, err, svc.Spec.Ports)
			}
		}
		if _, err := makeNodePort(t, root, "full", 0); !strings.Contains(message(err), "range is full") {
			t.Errorf("no port is left: %v", err)
		}
	})
	t.Run("another range", func(t *testing.T) {
		root := startOn(t, dir, "--service-node-port-range=3000+9")("root-token")
		svc, err := root.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		if err != nil || svc.Spec.Type != corev1.ServiceTypeClusterIP {
			t.Errorf("the Service kubernetes: %v %+v", err, svc.Spec)
		}
		old, err := root.CoreV1().Services("default").Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		old.Labels = map[string]string{"changed": "yes"}
		if svc, err := root.CoreV1().Services("default").Update(t.Context(), old, metav1.UpdateOptions{}); err != nil || svc.Spec.Ports[0].NodePort != old.Spec.Ports[0].NodePort {
			t.Errorf("an update of a service with an old port: %v", err)
		}
		if svc, err := makeNodePort(t, root, "new", 0); err != nil || svc.Spec.Ports[0].NodePort < 3000 || svc.Spec.Ports[0].NodePort > 3009 {
			t.Errorf("a new service: %v %v", err, svc.Spec.Ports)
		}
	})
	for _, c := range []struct{ flag, want string }{
		{"--service-node-port-range=9-8", "end port cannot be less than start port: 9-8"},
		{"--service-node-port-range=1-70000", "the port range cannot be greater than 65535: 1-70000"},
		{"--kubernetes-service-node-port=80", "kubernetes service node port range 30000-32767 doesn't contain 80"},
		{"--kubernetes-service-node-port=-1", "--kubernetes-service-node-port -1 must be between 0 and 65535, inclusive."},
	} {
		if got := startFails(t, c.flag); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.flag, got)
		}
	}
}

// TestTolerationSeconds: pods tolerate nodes that are not ready or not reachable for the times of the flags.
func TestTolerationSeconds(t *testing.T) {
	root := start(t, "--default-not-ready-toleration-seconds=7", "--default-unreachable-toleration-seconds=0", "--disable-admission-plugins=ServiceAccount")("root-token")
	pod, err := makePod(t, root, "default", "p")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, tol := range pod.Spec.Tolerations {
		got[tol.Key] = *tol.TolerationSeconds
	}
	if len(got) != 2 || got[corev1.TaintNodeNotReady] != 7 || got[corev1.TaintNodeUnreachable] != 0 {
		t.Errorf("the tolerations are %v", got)
	}
}
