package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A person goes through the views, deletes a pod, and quits.
func TestTop(t *testing.T) {
	dir, at := t.TempDir(), closedAddress(t)
	serve := func() *process { return launch(t, "up", "--data-dir", dir, "--listen", at, "--nodes=2") }
	p := serve()
	p.settled()
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
	p.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout="+patience.String())

	v := view(t, 100, 30, []string{"KUBECONFIG=" + p.Kubeconfig}, "top")
	v.shows("All is well", "2 nodes", "Writes", "node-1")
	v.press(":pods\r")
	v.shows("pods in all namespaces: 2 objects", "NAMESPACE", "default    web-", "Running")
	p.kubectl("run", "solo", "--image=nginx")
	v.shows("3 objects", "solo")
	v.press("/solo\r")
	v.shows("1 of 3 objects")
	v.press("\r")
	v.shows("pod default/solo: Why", "Pod default/solo is Running")
	v.press("y")
	v.shows("pod default/solo: YAML", "kind: Pod")
	v.press("e")
	v.shows("Scheduled", "Successfully assigned default/solo")
	v.press("l")
	v.shows("Logs of container solo", "nginx started")
	v.press("\x1b")
	v.shows("1 of 3 objects")

	v.press("\x04") // Ctrl-D
	v.shows("Delete pod default/solo? y deletes it")
	v.press("n")
	v.shows("Nothing was deleted", "1 of 3 objects")
	v.press("\x04")
	v.shows("Delete pod default/solo? y deletes it")
	v.press("y")
	v.shows("0 of 2 objects")
	if got := p.kubectl("get", "pods", "-o", "name"); strings.Contains(got, "solo") {
		t.Errorf("the pod is there: %s", got)
	}

	v.press("t")
	v.shows("Events: ", "DELETED", "pods default/solo")
	v.press("/created\x15pods solo deleted\r\r")
	v.shows("The life of event", "DELETED pods default/solo", "received")
	v.press("c")
	v.shows("The causes and effects of event")
	v.until("the chosen event in its tree", regexp.MustCompile(`▶ .*└─ DELETED pods default/solo`).MatchString)

	v.press(":deploy\r")
	v.shows("deployments.apps in all namespaces: 1 object")
	p.stop()
	v.shows(at+" does not answer", "web") // the last state stays
	p = serve()
	v.hides("does not answer")
	p.kubectl("create", "deployment", "later", "--image=nginx")
	v.shows("2 objects", "later")

	v.resize(60, 15)
	v.until("the narrow screen", func(screen string) bool {
		return !strings.Contains(screen, at) && strings.Contains(screen, "? help  q quit")
	})
	v.press("q")
	v.ends()
}

// Ctrl-C and SIGTERM leave the terminal as it was, too. With NO_COLOR there are no colours.
func TestTopEnds(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--nodes=1")
	p.settled()
	colour := regexp.MustCompile(`\x1b\[([0-9]+;)*(3[0-7]|9[0-7])m`)
	for _, c := range []struct {
		noColor string
		end     func(v *viewer)
	}{
		{"", func(v *viewer) { v.press("\x03") }},
		{"1", func(v *viewer) { v.cmd.Process.Signal(syscall.SIGTERM) }},
	} {
		v := view(t, 80, 24, []string{"KUBECONFIG=" + p.Kubeconfig, "NO_COLOR=" + c.noColor}, "top")
		v.shows("All is well", "node-1", "Ready")
		c.end(v)
		v.ends()
		if got := colour.MatchString(v.output()); got != (c.noColor == "") {
			t.Errorf("NO_COLOR=%s: %q", c.noColor, v.output())
		}
	}
}

// Without a terminal, and without a server, one line gives the reason.
func TestTopRefuses(t *testing.T) {
	if r := fairlead(t, "top"); r.code != 2 || !strings.Contains(r.errs, "fairlead why --watch") {
		t.Errorf("without a terminal: %d, %s", r.code, r.errs)
	}
	v := view(t, 80, 24, nil, "top", "--kubeconfig", deadKubeconfig(t, closedAddress(t)))
	v.shows("does not answer")
	if err := v.cmd.Wait(); v.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("without a server: %v", err)
	}
	if strings.Contains(v.output(), "\x1b[?1049h") {
		t.Error("the screen was taken before the server had answered")
	}
}
