package e2e

import (
	"bufio"
	"strings"
	"testing"
)

// TestShop runs the README's example: a shop is applied, becomes available, is scaled,
// updated, rolled back and deleted.
func TestShop(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir())
	ns := []string{"-n", "shop"}
	k := func(args ...string) string { t.Helper(); return p.kubectl(append(args, ns...)...) }
	timeout := "--timeout=" + patience.String()

	expect(t, "apply", p.kubectl("apply", "-f", "testdata/shop.yaml"),
		"namespace/shop created", "deployment.apps/web created", "service/cart created", "job.batch/migrate created")
	expect(t, "apply again", p.kubectl("apply", "-f", "testdata/shop.yaml"), "deployment.apps/web unchanged")

	k("rollout", "status", "deployment/web", timeout)
	k("rollout", "status", "deployment/cart", timeout)
	k("wait", "--for=condition=complete", "job/migrate", timeout)
	expect(t, "get deployments", k("get", "deployments", "--no-headers"), "3/3", "2/2")
	if got := k("get", "secret", "web-secret", "-o", "jsonpath={.data.password}"); got != "c3dvcmRmaXNo" {
		t.Errorf("stringData became %q", got)
	}
	k("wait", "--for=jsonpath={.endpoints[2].conditions.ready}=true", "endpointslice", "-l", "kubernetes.io/service-name=web", timeout)
	expect(t, "describe", k("describe", "deployment", "web"), "Image:", "shop/web:1", "3 available", "ScalingReplicaSet")
	expect(t, "get pods", k("get", "pods", "-l", "app=web", "-o", "wide"), "Running", "1/1", "node-")
	expect(t, "events", k("events", "--for", "deployment/web"), "Scaled up replica set")

	t.Run("scale", func(t *testing.T) {
		for _, n := range []string{"6", "1", "3"} {
			k("scale", "deployment/web", "--replicas="+n)
			k("wait", "--for=jsonpath={.status.readyReplicas}="+n, "deployment/web", timeout)
			k("wait", "--for=jsonpath={.status.replicas}="+n, "deployment/web", timeout)
		}
	})
	t.Run("update and undo", func(t *testing.T) {
		images := func() string {
			return k("get", "replicasets", "-l", "app=web", "-o", `jsonpath={range .items[?(@.status.readyReplicas==3)]}{.spec.template.spec.containers[0].image} {end}`)
		}
		k("set", "image", "deployment/web", "web=shop/web:2")
		k("rollout", "status", "deployment/web", timeout)
		if got := images(); got != "shop/web:2" {
			t.Errorf("after the update pods run %q", got)
		}
		expect(t, "history", k("rollout", "history", "deployment/web"), "1", "2")
		k("rollout", "undo", "deployment/web")
		k("rollout", "status", "deployment/web", timeout)
		if got := images(); got != "shop/web:1" {
			t.Errorf("after undo pods run %q", got)
		}
	})
	t.Run("cascade", func(t *testing.T) {
		k("delete", "deployment", "web")
		k("wait", "--for=delete", "replicaset", "-l", "app=web", timeout)
		k("wait", "--for=delete", "pod", "-l", "app=web", timeout)
		expect(t, "what is left", k("get", "pods", "--no-headers"), "cart-")
	})
	t.Run("namespace", func(t *testing.T) {
		p.kubectl("delete", "namespace", "shop", timeout)
		if got := k("get", "all,configmap,secret,endpointslice", "--ignore-not-found", "-o", "name"); got != "" {
			t.Errorf("left in a deleted namespace: %s", got)
		}
		expect(t, "get a deleted namespace", p.kubectlFails("get", "namespace", "shop"), `namespaces "shop" not found`)
	})
	p.stop()
}

// TestWatchSeesEveryStep: a watch gets each change of a pod in order, from its creation to
// its deletion, as objects and as table rows.
func TestWatchSeesEveryStep(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory")
	// The marker comes with the watch's list: once it is printed, the watch sees every
	// later event.
	p.kubectl("run", "marker", "--image=shop/marker:1")
	objects := p.watch("marker", "get", "pods", "--watch", "--output-watch-events",
		"-o", `jsonpath={.type} {.object.metadata.name} {.object.status.phase} node={.object.spec.nodeName} end={.object.metadata.deletionTimestamp}{"\n"}`)
	rows := p.watch("marker", "get", "pods", "--watch")

	p.kubectl("run", "solo", "--image=shop/solo:1")
	objects.until("ADDED", "solo", "Pending", "node= ")
	objects.until("MODIFIED", "solo", "Pending", "node=node-")
	objects.until("MODIFIED", "solo", "Running", "node=node-")
	p.kubectl("delete", "pod", "solo", "--wait=false")
	objects.until("MODIFIED", "solo", "end=2")
	objects.until("DELETED", "solo", "end=2")

	rows.until("solo", "0/1", "Pending")
	rows.until("solo", "1/1", "Running")
	rows.until("solo", "Terminating")
}

// lines is the output of a running kubectl.
type lines struct {
	t    testing.TB
	scan *bufio.Scanner
	seen []string
}

// watch starts a kubectl that prints until the test ends, and returns when it
// has printed first.
func (p *process) watch(first string, args ...string) *lines {
	p.t.Helper()
	cmd, cancel := p.command(args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	l := &lines{t: p.t, scan: bufio.NewScanner(out)}
	l.until(first)
	return l
}

// until reads up to the first line that contains all parts.
func (l *lines) until(parts ...string) {
	l.t.Helper()
	for l.scan.Scan() {
		l.seen = append(l.seen, l.scan.Text())
		found := true
		for _, part := range parts {
			found = found && strings.Contains(l.scan.Text(), part)
		}
		if found {
			return
		}
	}
	l.t.Fatalf("the watch ended without %q after:\n%s", parts, strings.Join(l.seen, "\n"))
}
