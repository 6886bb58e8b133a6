package e2e

import (
	"bufio"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// watched starts a server in memory in which pods do not change: without scheduler, nodes and
// most controllers.
func watched(t *testing.T) *process {
	t.Helper()
	p := up(t, t.TempDir(), "--in-memory", "--controllers=serviceaccount", "--scheduler=false", "--nodes=0")
	p.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout="+patience.String())
	return p
}

// podNamed is the manifest of a pod.
const podNamed = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// TestKubectlWatch: `kubectl get -w` prints the present objects first, --watch-only omits
// them, and later events have the right types.
func TestKubectlWatch(t *testing.T) {
	t.Parallel()
	for _, q := range []struct{ flags, want string }{
		{"-w", "NAME before between before between between"},
		{"-w --output-watch-events", "EVENT:NAME ADDED:before ADDED:between MODIFIED:before MODIFIED:between DELETED:between"},
		{"-w --watch-only --output-watch-events", "EVENT:NAME ADDED:between MODIFIED:before MODIFIED:between DELETED:between"},
		{"-w --watch-only -o name", "pod/between pod/before pod/between pod/between"},
		{"-w -o name", "pod/before pod/between pod/before pod/between pod/between"},
		{"-w before -o name", "pod/before pod/before"},
		{"-w -l a=b --output-watch-events", "EVENT:NAME ADDED:before"},
	} {
		t.Run(q.flags, func(t *testing.T) {
			p := watched(t)
			p.kubectlWithInput(fmt.Sprintf(podNamed, "before"), "create", "-f", "-")
			get, cancel := p.command(append([]string{"get", "pods"}, strings.Fields(q.flags)...)...)
			defer cancel()
			out, err := get.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := get.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				get.Process.Kill()
				get.Wait()
			}()
			p.awaitWatch("pods")
			p.kubectlWithInput(fmt.Sprintf(podNamed, "between"), "create", "-f", "-")
			p.kubectl("label", "pod/before", "a=b")
			p.kubectl("delete", "pod/between", "--grace-period=0", "--force", "--wait=false")
			events := strings.Contains(q.flags, "events")
			lines := bufio.NewReader(out)
			for i, want := range strings.Fields(q.want) {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("line %d: %v", i, err)
				}
				got := strings.Fields(line)
				got = got[:min(len(got), 1)]
				if events {
					got = strings.Fields(line)[:2]
				}
				if strings.Join(got, ":") != want {
					t.Fatalf("line %d: %q, want %s", i, line, want)
				}
			}
		})
	}
}

// awaitWatch waits until the server's metrics count a watch of the resource.
func (p *process) awaitWatch(resource string) {
	p.t.Helper()
	line := regexp.MustCompile(`(?m)^apiserver_longrunning_requests\{component="apiserver",group="",resource="` + resource + `",.*verb="WATCH",version="v1"\} 1$`)
	for deadline := time.Now().Add(patience); !line.MatchString(p.kubectl("get", "--raw", "/metrics")); {
		if time.Now().After(deadline) {
			p.t.Fatalf("the metrics lack %s", line)
		}
	}
}
