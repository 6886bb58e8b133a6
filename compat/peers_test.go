package compat

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// patience limits every wait; it measures no speed.
const patience = 3 * time.Minute

// bin holds the programs: upstream's, built from this module or found in the folder
// $UPSTREAM_BIN, and ours, built from the one above.
var bin struct{ etcd, apiserver, controllers, scheduler, fairlead, clientsuite string }

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fairlead-compat-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		theirs := os.Getenv("UPSTREAM_BIN")
		if theirs == "" {
			theirs = dir
		}
		for _, b := range []struct {
			from, what string
			how        []string
		}{
			{".", "./cmd/...", []string{"build", "-o", dir + "/"}},
			{"..", "./cmd/fairlead", []string{"build", "-o", dir + "/"}},
			{"..", "./internal/clientsuite", []string{"test", "-c", "-o", filepath.Join(dir, "clientsuite")}},
		} {
			if b.from == "." && theirs != dir {
				continue
			}
			fmt.Fprintf(os.Stderr, "building %s in %s\n", b.what, b.from)
			build := exec.Command("go", append(b.how, b.what)...)
			build.Dir, build.Stderr = b.from, os.Stderr
			if err := build.Run(); err != nil {
				fmt.Fprintln(os.Stderr, "build:", err)
				return 1
			}
		}
		bin.etcd, bin.apiserver = filepath.Join(theirs, "etcd"), filepath.Join(theirs, "kube-apiserver")
		bin.controllers, bin.scheduler = filepath.Join(theirs, "kube-controller-manager"), filepath.Join(theirs, "kube-scheduler")
		bin.fairlead = filepath.Join(dir, "fairlead")
		bin.clientsuite = filepath.Join(dir, "clientsuite")
		return m.Run()
	}())
}

// start runs a program until the test ends, or until kill is called; its output is shown if
// the test fails.
func start(t *testing.T, program string, args ...string) (kill func()) {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), filepath.Base(program))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := sync.OnceFunc(func() { cmd.Wait() })
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		wait()
		timer.Stop()
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			if len(b) > 4000 {
				b = b[len(b)-4000:]
			}
			t.Logf("%s:\n%s", filepath.Base(program), b)
		}
	})
	return func() {
		cmd.Process.Kill()
		wait()
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// upstream is a running kube-apiserver over a running etcd.
type upstream struct {
	etcd, kubeconfig string
	tokenKey         string // of service accounts
	clients          *kubernetes.Clientset
	restart          func() // kills the server and starts it again
}

const adminToken = "admin-token-of-this-test"

func startUpstream(t *testing.T, args ...string) upstream {
	t.Helper()
	return startUpstreamOn(t, startEtcd(t), args...)
}

// startEtcd runs an etcd and returns its URL.
func startEtcd(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	etcd, peer := freePort(t), freePort(t)
	etcdURL, peerURL := fmt.Sprintf("http://127.0.0.1:%d", etcd), fmt.Sprintf("http://127.0.0.1:%d", peer)
	start(t, bin.etcd, "--data-dir", filepath.Join(dir, "etcd"), "--log-level=error",
		"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", peerURL, "--initial-advertise-peer-urls", peerURL, "--initial-cluster", "default="+peerURL)
	return etcdURL
}

// startUpstreamOn runs a kube-apiserver over an etcd that is there.
func startUpstreamOn(t *testing.T, etcdURL string, args ...string) upstream {
	t.Helper()
	return startAPIServer(t, etcdURL, bin.apiserver, args...)
}

// startOurs runs Fairlead in the place of kube-apiserver over an etcd.
func startOurs(t *testing.T, args ...string) upstream {
	t.Helper()
	named := filepath.Join(t.TempDir(), "kube-apiserver")
	if err := os.Symlink(bin.fairlead, named); err != nil {
		t.Fatal(err)
	}
	return startAPIServer(t, startEtcd(t), named, args...)
}

// startAPIServer runs a program with the flags of kube-apiserver over an etcd that is there.
func startAPIServer(t *testing.T, etcdURL string, program string, args ...string) upstream {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	key := filepath.Join(dir, "sa.key")
	writeKey(t, key)
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(adminToken+`,admin,1,"system:masters"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--etcd-servers", etcdURL, "--cert-dir", filepath.Join(dir, "certs"),
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--token-auth-file", tokens, "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file", key, "--service-account-key-file", key)
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--authorization-config=") }) {
		args = append(args, "--authorization-mode=RBAC")
	}
	kill := start(t, program, args...)

	config := &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", port), BearerToken: adminToken, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	waitReady(t, clients)
	u := upstream{etcd: etcdURL, kubeconfig: filepath.Join(dir, "kubeconfig"), tokenKey: key, clients: clients}
	u.restart = func() {
		t.Helper()
		kill()
		kill = start(t, program, args...)
		waitReady(t, clients)
	}
	file := api.NewConfig()
	file.Clusters["c"] = &api.Cluster{Server: config.Host, InsecureSkipTLSVerify: true}
	file.AuthInfos["u"] = &api.AuthInfo{Token: adminToken}
	file.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	file.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*file, u.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return u
}

// waitReady polls /readyz until it is ok: a starting process has no other signal.
func waitReady(t *testing.T, c *kubernetes.Clientset) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		var code int
		c.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&code)
		if code == http.StatusOK {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("kube-apiserver does not become ready")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func writeKey(t *testing.T, path string) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}
