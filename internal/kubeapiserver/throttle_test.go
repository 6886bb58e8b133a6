package kubeapiserver_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMaxConnectionBytesPerSec reads from a kubelet, over a connection that is limited. No machine is too slow for
// it: only an answer that comes too early is a fault.
func TestMaxConnectionBytesPerSec(t *testing.T) {
	const size, rate = 40_000, 10_000
	node := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n"+strings.Repeat("x", size))
	}))
	t.Cleanup(node.Close)
	root := start(t, fmt.Sprintf("--max-connection-bytes-per-sec=%d", rate), "--disable-admission-plugins=ServiceAccount")("root-token")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(node.URL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	if n, err = root.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	if _, err := root.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := makePod(t, root, "default", "p", func(p *corev1.Pod) { p.Spec.NodeName = "n" }); err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(host(root), "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	io.WriteString(conn, "POST /api/v1/namespaces/default/pods/p/exec?command=x&stdout=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root-token\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v: %+v", err, resp)
	}
	if read, err := io.CopyN(io.Discard, in, size); err != nil {
		t.Fatalf("%d bytes: %v", read, err)
	}
	if took := time.Since(began); took < size/rate*time.Second/2 {
		t.Errorf("%d bytes at %d a second took %v", size, rate, took)
	}
}
