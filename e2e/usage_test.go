package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/port"
)

// A wrong command line exits with 2, names the error, and points to the help of the
// command.
func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"fly", `unknown command "fly"`},
		{"upp", "did you mean up"},
		{"fault ad", "did you mean add?"},
		{"up --wings", "unknown flag: --wings"},
		{"up --lisen", "did you mean --listen?"},
		{"up --lisen", "See 'fairlead up --help'."},
		{"up now", "takes no arguments"},
		{"up --nodes=-1", "want 0 or more"},
		{"up --nodes=x", "--nodes=x: want a whole number"},
		{"up --in-memory=maybe", "--in-memory=maybe: want true or false"},
		{"up --history=-5m", "--history=-5m: want a duration above 0"},
		{"etcd --history=0", "--history=0: want a duration above 0"},
		{"up --in-memory --listen=foo", "--listen=foo: want an address and a port"},
		{"up --in-memory --advertise-address=here", `--advertise-address: "here" is not an IP address`},
		{"up --in-memory --tls-san=a_b", `--tls-san: "a_b" is neither a host name nor an IP address`},
		{"up --in-memory --etcd-listen=0.0.0.0:0", "--etcd-listen=0.0.0.0:0 would let everyone who reaches it read and write everything"},
		{"up -o xml", "want json"},
		{"up --controllers=nosuch", "nosuch"},
		{"up --scheduler-config=/nope", "--scheduler-config: "},
		{"scheduler --config=/nope", "--config: "},
		{"nodes --nodes=0", "want 1 or more"},
		{"trace --rv=abc", "--rv=abc: want a whole number"},
		{"token create abc", `"abc" is not a token: want 6 characters, a dot and 16 characters`},
		{"token create --ttl=-1h", "--ttl=-1h0m0s: want 0"},
		{"token create --groups=admins", "--groups: "},
		{"token create --usages=all", "--usages: "},
		{"token delete", "takes tokens or their IDs"},
		{"token list -o xml", "want json or yaml"},
		{"join", "takes the URL of the API server"},
		{"join http://10.0.0.1:6443 --token=abcdef.0123456789abcdef", "want https://HOST:PORT"},
		{"join https://10.0.0.1:6443", "--token: want 6 characters"},
		{"join https://10.0.0.1:6443 --token=abcdef.0123456789abcdef", "--discovery-token-ca-cert-hash: want the hash"},
		{"join https://10.0.0.1:6443 --token=abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification --node-ip=here", "--node-ip=here: want an IP address"},
		{"addon apply flannel", "flannel"},
		{"version -o xml", "want json or yaml"},
		{"completion tcsh", `unknown command "tcsh"`},
	} {
		got := refused(t, 2, strings.Fields(c.args)...)
		expect(t, c.args, got, "fairlead: ", c.want)
		if strings.Contains(got, "strconv") {
			t.Errorf("%s: %s", c.args, got)
		}
	}
}

// The errors of a client command name the server, or explain how to get one.
func TestNoServer(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Chdir(t.TempDir())
	oneLine(t, refused(t, 1, "why", "pod/web"), "no kubeconfig found", "fairlead up", "--kubeconfig")
	t.Setenv("KUBECONFIG", "/nope")
	oneLine(t, refused(t, 1, "why", "pod/web"), "KUBECONFIG=/nope")
	dead := deadKubeconfig(t, closedAddress(t))
	oneLine(t, refused(t, 1, "why", "pod/web", "--kubeconfig", dead), "does not answer: connection refused")
	oneLine(t, refused(t, 1, "up", "--stages", "/nope", "--in-memory"), "--stages: ")
	got := refused(t, 1, "store", "status", "--endpoints", closedAddress(t))
	if oneLine(t, got, "connection refused"); strings.Contains(got, "rpc error") {
		t.Error(got)
	}
}

// In the directory where `fairlead up` runs, its kubeconfig is found.
func TestKubeconfigHere(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	t.Chdir(dir)
	p := up(t, ".fairlead", "--in-memory")
	p.settled()
	out, err := exec.Command(bin.fairlead, "why", "node/node-1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.stop()
}

// A part that is started before its server waits for it, logs that once, and reports that
// it runs only when the server is there.
func TestPartWaitsForServer(t *testing.T) {
	address := closedAddress(t)
	cmd := exec.Command(bin.fairlead, "nodes", "--kubeconfig", deadKubeconfig(t, address))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer func() { timer.Stop(); cmd.Process.Kill(); cmd.Wait() }()
	lines := bufio.NewScanner(stderr)
	next := func() string {
		if !lines.Scan() {
			t.Fatalf("no more output: %v", lines.Err())
		}
		return lines.Text()
	}
	expect(t, "while nothing listens", next(), "WARN", "the API server does not answer", address, "since=", "connection refused")
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/version" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, "{}")
	})}}
	s.Start()
	defer s.Close()
	expect(t, "when it answers", next(), "the API server answers again", address)
	expect(t, "then", next(), "✓ Nodes", "running")
}

// kubectl names the version of the module that it was built from.
func TestKubectlVersion(t *testing.T) {
	out, err := exec.Command(bin.kubectl, "version", "--client").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	expect(t, "kubectl version", string(out), "Client Version: v1.37.")
}

// deadKubeconfig writes a kubeconfig for a server at address, over plain HTTP.
func deadKubeconfig(t *testing.T, address string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(path, kubeconfig.Entry{Server: "http://" + address}); err != nil {
		t.Fatal(err)
	}
	return path
}

// closedAddress returns an address of this machine without a listener.
func closedAddress(t *testing.T) string {
	t.Helper()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	return free[0]
}
