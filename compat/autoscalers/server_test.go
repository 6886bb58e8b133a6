//go:build autoscalers

package autoscalers

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait. It is no measure of speed.
const patience = 5 * time.Minute

// build builds a program of a module in a folder.
func build(t *testing.T, module, program string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	run(t, exec.Command("go", "build", "-C", module, "-o", bin, program))
	return bin
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, &out, &errs)
	}
	return strings.TrimSpace(out.String())
}

// start starts a program that is killed at the end of the test, which logs its last lines if the test has failed.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // its error is the kill
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", cmd.Path, text[max(0, len(text)-20000):])
		}
	})
}

// server is a running control plane without nodes.
type server struct {
	t                      *testing.T
	kubectlBin, kubeconfig string
}

// serve starts fairlead up.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t, kubectlBin: build(t, "../../cmd/kubectl", "."), kubeconfig: filepath.Join(dir, "kubeconfig")}
	fairlead := build(t, "../..", "./cmd/fairlead")
	start(t, exec.Command(fairlead, append([]string{"up", "--data-dir", dir, "--listen=127.0.0.1:0", "--nodes=0"}, args...)...))
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(s.kubeconfig); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the server has written no kubeconfig")
		}
	}
	s.kubectl("", "wait", "--for=create", "serviceaccount/default", "--timeout="+patience.String())
	return s
}

// kubectl runs kubectl with an input, and returns its output.
func (s *server) kubectl(input string, args ...string) string {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, s.kubectlBin, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	cmd.Stdin = strings.NewReader(input)
	return run(s.t, cmd)
}

// await waits for a condition of objects.
func (s *server) await(args ...string) {
	s.t.Helper()
	s.kubectl("", append(args, "--timeout="+patience.String())...)
}

// deploy creates a deployment whose pods request CPUs.
func (s *server) deploy(name, cpu string, replicas string) {
	s.t.Helper()
	s.kubectl(strings.NewReplacer("NAME", name, "CPU", cpu, "REPLICAS", replicas).Replace(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: nginx, resources: {requests: {cpu: CPU}}}]
`), "create", "-f", "-")
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
