package e2e

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"golang.org/x/sys/unix"
)

// dial opens TCP connections to the server which send nothing. They end with the test.
func dial(t *testing.T, p *process, n int) (all []net.Conn) {
	t.Helper()
	host := strings.TrimPrefix(p.config().Host, "https://")
	for range n {
		c, err := net.DialTimeout("tcp", host, patience)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all = append(all, c)
	}
	return all
}

// fresh returns a client with connections of its own.
func fresh(t *testing.T, p *process) *kubernetes.Clientset {
	t.Helper()
	config := rest.CopyConfig(p.config())
	config.Dial = (&net.Dialer{}).DialContext // clients with a dialer of their own share no connections
	config.Timeout = patience
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMaxConnections: connections of clients that do not authenticate give way to those of others.
func TestMaxConnections(t *testing.T) {
	const most = 50
	p := up(t, t.TempDir(), "--in-memory", "--nodes=0", "--max-connections="+strconv.Itoa(most))
	defer p.stop()
	config := rest.CopyConfig(p.config())
	early := fresh(t, p)
	if _, err := early.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	silent := dial(t, p, 4*most)
	for range 3 {
		if _, err := fresh(t, p).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("a client that comes after %d silent ones: %v", len(silent), err)
		}
	}
	if _, err := early.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a client that came before them: %v", err)
	}
	for i, c := range silent[:most] { // the others may wait in the listener's queue
		c.SetReadDeadline(time.Now().Add(patience))
		if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Fatalf("silent connection %d of %d is open (%v), where %d are allowed", i, len(silent), err, most)
		}
	}
	text, err := early.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var open, replaced int
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "fairlead_connections":
			open, _ = strconv.Atoi(value)
		case `fairlead_dropped_connections_total{reason="replaced"}`:
			replaced, _ = strconv.Atoi(value)
		}
	}
	if open < 2 || open > most || replaced < 2*most {
		t.Errorf("%d connections of %d of %s are open, %d were replaced", open, most, config.Host, replaced)
	}
}

// TestNoFileDescriptors: a server that has had no file descriptors for new connections goes on accepting once it has some.
func TestNoFileDescriptors(t *testing.T) {
	p := up(t, t.TempDir(), "--nodes=0", "--max-connections=0")
	defer p.stop()
	open, err := os.ReadDir("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	var was unix.Rlimit
	limit := unix.Rlimit{Cur: uint64(len(open)) + 20, Max: uint64(len(open)) + 20}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, &was); err != nil {
		t.Fatal(err)
	}
	silent := dial(t, p, 100)
	for deadline := time.Now().Add(patience); !strings.Contains(p.stderr.String(), "too many open files"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the server has file descriptors for %d connections, or tells nothing of their lack:\n%s", len(silent), p.stderr)
		}
	}
	for _, c := range silent {
		c.Close()
	}
	if _, err := fresh(t, p).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("after the silent clients have gone: %v", err)
	}
}
