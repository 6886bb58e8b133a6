package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

func startEtcd(t *testing.T) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.LogLevel = "fatal"
	c.UnsafeNoFsync = true
	c.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return "http://" + e.Clients[0].Addr().String()
}

// TestEventsInTheirOwnEtcd: a whole control plane with its Events in another etcd cluster.
func TestEventsInTheirOwnEtcd(t *testing.T) {
	others, events := startEtcd(t), startEtcd(t)
	p := up(t, t.TempDir(), "--etcd-servers="+others, "--etcd-servers-overrides=/events#"+events+",example.com/things#"+events)
	p.settled()
	p.kubectl("create", "deployment", "web", "--image=nginx")
	p.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	p.kubectlWithInput(`{apiVersion: v1, kind: Event, metadata: {name: one}, involvedObject: {namespace: default}, reason: Tested}`, "create", "-f", "-")
	expect(t, "events", p.kubectl("get", "events.events.k8s.io"), "Tested")
	for name, c := range map[string]struct {
		server       string
		events, pods bool
	}{"others": {others, false, true}, "events": {events, true, false}} {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.server}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for prefix, want := range map[string]bool{"/registry/events/": c.events, "/registry/pods/": c.pods} {
			got, err := client.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err != nil {
				t.Fatal(err)
			}
			if got.Count > 0 != want {
				t.Errorf("%d keys below %s in the cluster of %s, want some: %v", got.Count, prefix, name, want)
			}
		}
	}
	expect(t, "log", p.stderr.String(), "example.com/things has no effect")
	p.stop()
}

// TestTheOtherTakesOver: of two whole control planes on one etcd cluster, the one with the
// lease is killed in the middle of a rollout. The other, without copied files, finishes it;
// and a watch that was on the first continues at the second, with every event once.
func TestTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	etcd := startEtcd(t)
	flags := []string{"--etcd-servers=" + etcd,
		"--leader-elect-lease-duration=2s", "--leader-elect-renew-deadline=1500ms", "--leader-elect-retry-period=200ms"}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()

	// The holder of the controllers' lease is killed. The other takes over when it has the lease.
	dying := up(t, t.TempDir(), flags...)
	lease := waitLease(t, ctx, dying)
	heir := up(t, t.TempDir(), flags...)
	dying.kubectl("create", "deployment", "web", "--image=web:1", "--replicas=10")
	dying.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	list, err := dying.clientset().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log := &podLog{t: t, rv: list.ResourceVersion, seen: map[string]bool{}}
	w, err := dying.clientset().CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: log.rv})
	if err != nil {
		t.Fatal(err)
	}
	dying.kubectl("set", "image", "deployment/web", "*=web:2")
	log.follow(w, func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "web:2" })
	dying.kill(syscall.SIGKILL)
	log.drain(w) // the events that had arrived

	w, err = heir.clientset().CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{ResourceVersion: log.rv})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	heir.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
	d, err := heir.clientset().AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
	if err != nil || !rolledOut(d) {
		t.Fatalf("the rollout: %+v, %v", d.Status, err)
	}
	if after := waitLease(t, ctx, heir); *after.Spec.HolderIdentity == *lease.Spec.HolderIdentity {
		t.Errorf("%s, which is dead, still leads", *after.Spec.HolderIdentity)
	}
	// The watch was complete if its events add up to the list.
	list, err = heir.clientset().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	newest := ""
	for _, p := range list.Items {
		if len(p.ResourceVersion) > len(newest) || len(p.ResourceVersion) == len(newest) && p.ResourceVersion > newest {
			newest = p.ResourceVersion
		}
	}
	log.until(w, newest)
	for _, p := range list.Items {
		if !log.seen[p.Name+"@"+p.ResourceVersion] {
			t.Errorf("the watch lacks %s at %s", p.Name, p.ResourceVersion)
		}
	}
}

func rolledOut(d *appsv1.Deployment) bool {
	return d.Status.UpdatedReplicas == 10 && d.Status.AvailableReplicas == 10 && d.Status.Replicas == 10
}

// waitLease waits until a live process holds the controllers' lease.
func waitLease(t *testing.T, ctx context.Context, p *process) *coordinationv1.Lease {
	t.Helper()
	leases := p.clientset().CoordinationV1().Leases("kube-system")
	w, err := leases.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=kube-controller-manager"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for renewals := 0; ; {
		ev, ok := <-w.ResultChan()
		if !ok {
			t.Fatal("the lease has no holder")
		}
		if l, ok := ev.Object.(*coordinationv1.Lease); ok && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "" {
			if renewals++; renewals > 2 { // the first may be old
				return l
			}
		}
	}
}

// podLog checks that the events of a watch come in order and once.
type podLog struct {
	t    *testing.T
	rv   string
	seen map[string]bool // of the events, name and revision
}

func (l *podLog) told(ev watch.Event) *corev1.Pod {
	l.t.Helper()
	p, ok := ev.Object.(*corev1.Pod)
	if !ok {
		text, _ := json.Marshal(ev.Object)
		l.t.Fatalf("%s %s", ev.Type, text)
	}
	was, _ := strconv.ParseUint(l.rv, 10, 64)
	is, _ := strconv.ParseUint(p.ResourceVersion, 10, 64)
	if is <= was {
		l.t.Errorf("event %d after %d", is, was)
	}
	l.rv = p.ResourceVersion
	l.seen[fmt.Sprint(p.Name, "@", p.ResourceVersion)] = true
	return p
}

func (l *podLog) follow(w watch.Interface, done func(*corev1.Pod) bool) {
	l.t.Helper()
	for ev := range w.ResultChan() {
		if done(l.told(ev)) {
			return
		}
	}
	l.t.Fatal("the watch ended")
}

// drain reads the rest of a watch whose server has died.
func (l *podLog) drain(w watch.Interface) {
	for ev := range w.ResultChan() {
		if ev.Type != watch.Error {
			l.told(ev)
		}
	}
}

// until reads up to the event at a revision.
func (l *podLog) until(w watch.Interface, rv string) {
	l.t.Helper()
	end, _ := strconv.ParseUint(rv, 10, 64)
	for ev := range w.ResultChan() {
		if at, _ := strconv.ParseUint(l.told(ev).ResourceVersion, 10, 64); at >= end {
			return
		}
	}
	l.t.Fatal("the watch ended")
}
