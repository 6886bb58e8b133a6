// Package e2e tests the built binary with the built kubectl.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// patience bounds every wait of these tests. It is no measure of speed: it is how
// long a loaded machine may take before a test gives up.
const patience = 90 * time.Second

// lifetime bounds a process of a test: a test that waits for one without an end fails then, and the other tests run.
const lifetime = 5 * time.Minute

// bin holds the two binaries under test, and the real etcdctl.
var bin struct{ fairlead, kubectl, etcdctl string }

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fairlead-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// Servers of these tests are none of the user's.
		if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := lookAtSources(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		// Each is built in its own module, with the versions that its users get.
		for _, b := range []struct{ module, program string }{
			{"..", "./cmd/fairlead"},
			{"../cmd/kubectl", "."},
			{".", "go.etcd.io/etcd/etcdctl/v3"},
		} {
			build := exec.Command("go", "build", "-C", b.module, "-o", dir+"/", b.program)
			build.Stderr = os.Stderr
			if err := build.Run(); err != nil {
				fmt.Fprintln(os.Stderr, "build:", err)
				return 1
			}
		}
		bin.fairlead, bin.kubectl, bin.etcdctl = filepath.Join(dir, "fairlead"), filepath.Join(dir, "kubectl"), filepath.Join(dir, "etcdctl")
		return m.Run()
	}())
}

// lookAtSources makes changes of the sources invalidate go test's cached results. The go
// command caches a result while the files that the test has opened stay the same, and does
// not see the files that a build started by the test reads.
func lookAtSources() error {
	return filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = os.Stat(path)
		}
		return err
	})
}

// process is a running fairlead.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	stderr *output
	exited chan struct{}
	err    error

	Server      string
	Kubeconfig  string
	CAFile      string
	Etcd        string // up's
	Page        string // up's, with the link's secret
	Endpoint    string // etcd's
	PID         int
	ReadyMillis int
}

// output is the output of a process so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// up starts `fairlead up` with its data in dir and returns when it is ready.
func up(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return launch(t, append([]string{"up", "--data-dir", dir, "--listen", "127.0.0.1:0"}, args...)...)
}

// launch starts a fairlead that serves, and returns when it is ready.
func launch(t testing.TB, args ...string) *process {
	t.Helper()
	return await(t, exec.Command(bin.fairlead, append(args, "-o", "json")...))
}

// await starts a command that runs such a fairlead, and returns when it is ready.
func await(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, stderr: new(output), exited: make(chan struct{})}
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(syscall.SIGKILL) })
	if _, is := t.(*testing.T); is {
		end := time.AfterFunc(lifetime, func() {
			t.Errorf("fairlead is killed after %v, since the test has not ended it", lifetime)
			p.cmd.Process.Kill()
		})
		t.Cleanup(func() { end.Stop() })
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	go func() {
		io.Copy(io.Discard, stdout)
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	if err != nil {
		<-p.exited
		t.Fatalf("no ready line: %v\n%s", err, p.stderr)
	}
	if err := json.Unmarshal(line, p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

// settled waits for the objects that `up` makes after it is ready: a node, and the service account that pods
// of the default namespace need.
func (p *process) settled() {
	p.t.Helper()
	p.exist("node/node-1", "serviceaccount/default")
}

// exist waits for objects, one after another: kubectl fails at once if several are all missing.
func (p *process) exist(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.kubectl("wait", "--for=create", name, "--timeout="+patience.String())
	}
}

// kill sends a signal and waits for the end.
func (p *process) kill(s syscall.Signal) {
	p.t.Helper()
	p.cmd.Process.Signal(s)
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Errorf("still running after %v:\n%s", s, p.stderr)
		p.cmd.Process.Kill()
		<-p.exited
	}
}

// stop ends it as Ctrl-C does and expects success.
func (p *process) stop() {
	p.t.Helper()
	p.kill(syscall.SIGTERM)
	if p.err != nil {
		p.t.Errorf("exit: %v\n%s", p.err, p.stderr)
	}
}

func (p *process) config() *rest.Config {
	p.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		p.t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func (p *process) clientset() *kubernetes.Clientset {
	p.t.Helper()
	c, err := kubernetes.NewForConfig(p.config())
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// command prepares a kubectl that is killed when the test's patience ends.
func (p *process) command(args ...string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, bin.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig, "HOME="+p.t.TempDir())
	return cmd, cancel
}

// kubectl runs kubectl, expects success and returns its stdout.
func (p *process) kubectl(args ...string) string {
	p.t.Helper()
	return p.kubectlWithInput("", args...)
}

func (p *process) kubectlWithInput(stdin string, args ...string) string {
	p.t.Helper()
	cmd, cancel := p.command(args...)
	defer cancel()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("kubectl %s: %v\n%s%s\nfairlead:\n%s", strings.Join(args, " "), err, &out, &errs, p.stderr)
	}
	return strings.TrimSpace(out.String())
}

// kubectlFails runs kubectl, expects failure and returns its stderr.
func (p *process) kubectlFails(args ...string) string {
	p.t.Helper()
	cmd, cancel := p.command(args...)
	defer cancel()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil {
		p.t.Fatalf("kubectl %s succeeded", strings.Join(args, " "))
	}
	return strings.TrimSpace(errs.String())
}

// expect fails the test unless the text holds all the parts.
func expect(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: no %q in:\n%s", what, part, text)
		}
	}
}

// eventually waits until the condition holds, and fails the test when its patience ends.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting for %s", what)
		}
	}
}
