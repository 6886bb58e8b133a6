package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/internal/trace/show"
)

// TestPartsApart runs each part in a process of its own and scales a Deployment: the trace
// has every hop of each pod's life, from all processes.
func TestPartsApart(t *testing.T) {
	t.Parallel()
	p := launch(t, "server", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0")
	defer p.stop()
	for _, part := range [][]string{{"controllers"}, {"scheduler"}, {"nodes", "--nodes=2"}} {
		p.part(part...)
	}
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=0")
	p.kubectl("rollout", "status", "deployment/web")
	p.kubectl("scale", "deployment/web", "--replicas=5")
	p.kubectl("rollout", "status", "deployment/web")

	var lacks string
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // reports arrive with a delay
		if lacks = p.apart(); lacks == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(lacks)
		}
	}
}

// part starts a part with p's kubeconfig. It ends with the test, or when stop is called.
func (p *process) part(args ...string) (stop func()) {
	p.t.Helper()
	cmd := exec.Command(bin.fairlead, append(args, "--kubeconfig", p.Kubeconfig)...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	p.t.Cleanup(stop)
	return stop
}

// apart returns the hops that the traces of the scaling and of its pods lack.
func (p *process) apart() string {
	root := ""
	in := json.NewDecoder(strings.NewReader(fairlead(p.t, "trace", "deploy/web", "--kubeconfig", p.Kubeconfig, "--since", "1h", "-o", "json").out))
	for in.More() {
		var e show.Event
		if err := in.Decode(&e); err != nil {
			p.t.Fatal(err)
		}
		if e.Subresource == "scale" {
			root = fmt.Sprint(e.Revision)
			if lacks := reported(e, "controllers@", "deployment"); lacks != "" {
				return lacks
			}
		}
	}
	if root == "" {
		return "there is no event of the scaling"
	}
	all, at := p.tree(root)
	made, bound, ran := 0, 0, 0
	for _, e := range all {
		cause := show.Event{}
		if len(e.Causes) > 0 {
			cause = at[e.Causes[0]]
		}
		lacks := ""
		switch {
		case e.Resource == "replicasets.apps" && e.Subresource == "" && e.Type == "MODIFIED":
			lacks = reported(e, "controllers@", "replicaset")
		case e.Resource == "pods" && e.Type == "ADDED":
			made++
			lacks = reported(e, "scheduler@", "default-scheduler")
		case e.Resource == "pods" && e.Subresource == "binding":
			bound++
			lacks = reported(e, "nodes@", "") // which has watches of its own in place of informers
		case e.Resource == "pods" && e.Subresource == "status" && cause.Subresource == "binding":
			ran++
			lacks = reported(e, "controllers@", "replicaset")
		}
		if lacks != "" {
			return lacks
		}
	}
	if made != 5 || bound != 5 || ran != 5 {
		return fmt.Sprintf("%d pods made, %d bound, %d run", made, bound, ran)
	}
	return ""
}

// reported describes the missing parts of an event's arrival in a process, and of its
// controller's reconcile; without a name any controller will do, and no informer is needed.
func reported(e show.Event, process, controller string) string {
	arrived, done := controller == "", false
	for _, a := range e.Arrivals {
		if strings.HasPrefix(a.Process, process) && a.Read > 0 && a.Decoded >= a.Read && a.Stored >= a.Decoded && a.Within > 0 {
			arrived = true
		}
	}
	for _, w := range e.Reconciles {
		if strings.HasPrefix(w.Process, process) && (controller == "" || w.Controller == controller) && w.Begun >= w.Queued && w.Ended >= w.Begun {
			done = true
		}
	}
	if !arrived || !done {
		return fmt.Sprintf("%s: no arrival in %s or no work of %q: %+v %+v", show.Title(e.Life), process, controller, e.Arrivals, e.Reconciles)
	}
	return ""
}
