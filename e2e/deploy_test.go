package e2e

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestSystemdUnit starts the command of the unit, which reports its readiness and its end as systemd expects.
func TestSystemdUnit(t *testing.T) {
	unit, err := os.ReadFile("../deploy/systemd/fairlead.service")
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(string(unit), "\nExecStart=")
	command, _, _ = strings.Cut(command, "\n")
	data := filepath.Join(t.TempDir(), "data")
	where := strings.NewReplacer("/usr/bin/fairlead", bin.fairlead, "/etc/fairlead/", "../deploy/systemd/", "/var/lib/fairlead", data)
	args := strings.Fields(where.Replace(command))
	dir, err := os.MkdirTemp("", "notify") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	next := func() string {
		if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 1024)
		n, err := socket.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:n])
	}
	var log bytes.Buffer
	cmd := exec.Command(args[0], append(args[1:], "--listen=127.0.0.1:0")...)
	cmd.Stderr = &log
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket.LocalAddr().String(), "HOME="+data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if got := next(); got != "READY=1" {
		t.Errorf("the first message to systemd: %q", got)
	}
	print := fairlead(t, "kubeconfig", "--kubeconfig", filepath.Join(data, "kubeconfig"), "--server=https://api.example.com:6443").out
	expect(t, "kubeconfig", print, "server: https://api.example.com:6443", "certificate-authority-data: ", "client-key-data: ")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "STOPPING=1" {
		t.Errorf("the last message to systemd: %q", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
	t.Run("verify", func(t *testing.T) {
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			t.Skip("this machine has no systemd-analyze: ", err)
		}
		path := filepath.Join(t.TempDir(), "fairlead.service")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(unit), "/usr/bin/fairlead", bin.fairlead)), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", path).CombinedOutput(); err != nil || strings.Contains(string(out), "fairlead.service") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// deployed are the container and the configuration of a file of deploy/kubernetes.
type deployed struct {
	container corev1.Container
	config    string
}

func readDeployed(t *testing.T, path string) (d deployed) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	defer documents.Close()
	part := make([]byte, len(text))
	for {
		n, err := documents.Read(part)
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(part[:n], nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch o := obj.(type) {
		case *corev1.ConfigMap:
			d.config = o.Data["fairlead.yaml"]
		case *appsv1.StatefulSet:
			d.container = o.Spec.Template.Spec.Containers[0]
		case *appsv1.Deployment:
			d.container = o.Spec.Template.Spec.Containers[0]
		}
	}
}

// TestManifests applies the manifests to a cluster, whose Pod Security admission accepts the pods, and starts the command of
// their container, which becomes ready as the probe asks.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("../deploy/kubernetes/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	host := up(t, t.TempDir(), "--in-memory", "--nodes=1")
	host.settled()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			host.kubectl("apply", "--validate=strict", "-f", file)
			host.kubectl("-n", "fairlead", "wait", "--for=create", "pod", "-l", "app.kubernetes.io/name", "--timeout="+patience.String())
			for _, kind := range []string{"statefulset/fairlead", "deployment/fairlead-replicas"} {
				if strings.Contains(host.kubectl("get", "-f", file, "-o", "name"), kind) {
					host.kubectl("-n", "fairlead", "rollout", "status", kind, "--timeout="+patience.String())
				}
			}
			d := readDeployed(t, file)
			dir := t.TempDir()
			config := strings.NewReplacer("data-dir: /data", "data-dir: "+filepath.Join(dir, "data"), "0.0.0.0:6443", "127.0.0.1:0")
			text := config.Replace(d.config)
			if strings.Contains(text, "etcd-servers") {
				text = strings.Replace(text, "http://etcd.fairlead.svc:2379", startEtcd(t), 1)
			}
			if err := os.WriteFile(filepath.Join(dir, "fairlead.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := slices.Clone(d.container.Args)
			for i := range args {
				args[i] = strings.Replace(args[i], "/etc/fairlead/", dir+"/", 1)
			}
			p := launch(t, args...)
			insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
			defer insecure.CloseIdleConnections()
			for _, probe := range []*corev1.Probe{d.container.ReadinessProbe, d.container.LivenessProbe} {
				eventually(t, probe.HTTPGet.Path, func() bool { // as a kubelet asks, without credentials
					resp, err := insecure.Get(p.Server + probe.HTTPGet.Path)
					if err != nil {
						return false
					}
					resp.Body.Close()
					return resp.StatusCode == http.StatusOK
				})
			}
			p.stop()
		})
	}
}
