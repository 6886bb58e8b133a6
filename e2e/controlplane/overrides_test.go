package controlplane_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/badnet"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// overridden are three clusters: one of Events, one of Deployments, and one of all other resources. The first can be cut off.
type overridden struct {
	options controlplane.Etcd
	events  *badnet.Proxy
	tls     *tls.Config
	urls    []string // of the clusters themselves: of the others, Events, Deployments
}

func startOverridden(t *testing.T) overridden {
	t.Helper()
	o, others := startEtcds(t, 3)
	config, err := transport.TLSInfo{CertFile: o.CertFile, KeyFile: o.KeyFile, TrustedCAFile: o.CAFile}.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(others[0])
	if err != nil {
		t.Fatal(err)
	}
	events := through(t, u.Host)
	o.Overrides = []controlplane.EtcdOverride{
		{Resource: schema.GroupResource{Resource: "events"}, Servers: []string{"https://" + events.Addr()}},
		{Resource: schema.GroupResource{Group: "apps", Resource: "deployments"}, Servers: others[1:]},
	}
	return overridden{o, events, config, append(slices.Clone(o.Servers), others...)}
}

// etcd returns a client of one of the clusters.
func (o overridden) etcd(t *testing.T, i int) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: o.urls[i : i+1], TLS: o.tls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// keys returns the keys below a prefix in each cluster.
func (o overridden) keys(t *testing.T, prefix string) (all [3]int) {
	t.Helper()
	for i := range all {
		res, err := o.etcd(t, i).Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		all[i] = int(res.Count)
	}
	return all
}

func clientset(t *testing.T, cp *controlplane.ControlPlane) *kubernetes.Clientset {
	t.Helper()
	config := cp.Config()
	config.QPS = -1
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func eventOf(name string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Namespace: "default"},
	}
}

func deploymentOf(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		},
	}
}

// waitFor reads a watch up to an event of an object.
func waitFor(t *testing.T, w watch.Interface, typ watch.EventType, name string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok || e.Type == watch.Error {
				t.Fatalf("the watch ends before %s of %s: %v", typ, name, e.Object)
			}
			if m, _ := e.Object.(metav1.Object); e.Type == typ && m.GetName() == name {
				return
			}
		case <-late:
			t.Fatalf("no event %s of %s", typ, name)
		}
	}
}

// TestEtcdOverrides: each resource is served from the cluster of its override, under the key that it has in one cluster, and
// requests of all verbs work for each.
func TestEtcdOverrides(t *testing.T) {
	etcd := startOverridden(t)
	dir := t.TempDir()
	a := controlplanetest.Start(t, controlplane.Options{DataDir: dir, Etcd: etcd.options, EventTTL: time.Hour})
	b := clientset(t, controlplanetest.Start(t, controlplane.Options{Etcd: etcd.options, EventTTL: time.Hour}))
	c := clientset(t, a)
	ctx := t.Context()

	list, err := c.AppsV1().Deployments("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.AppsV1().Deployments("default").Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := c.AppsV1().Deployments("default").Create(ctx, deploymentOf("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, w, watch.Added, "web")
	if _, err := b.AppsV1().Deployments("default").Patch(ctx, "web", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, w, watch.Modified, "web")
	if d, err := c.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{}); err != nil || *d.Spec.Replicas != 3 {
		t.Errorf("after a patch at the other server: %v, %v", d, err)
	}
	if err := c.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, w, watch.Deleted, "web")
	if _, err := c.AppsV1().Deployments("default").Create(ctx, deploymentOf("kept"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Events("default").Create(ctx, eventOf("one"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if e, err := b.EventsV1().Events("default").Get(ctx, "one", metav1.GetOptions{}); err != nil || e.Name != "one" {
		t.Errorf("the event in the other group: %v, %v", e, err)
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "svc"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if _, err := c.CoreV1().Services("default").Create(ctx, svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][3]int{
		"/registry/events/default/one":       {0, 1, 0},
		"/registry/deployments/default/kept": {0, 0, 1},
		"/registry/services/specs/":          {2, 0, 0},
		"/registry/ipaddresses/":             {2, 0, 0},
		"/registry/namespaces/":              {4, 0, 0},
	} {
		if got := etcd.keys(t, prefix); got != want {
			t.Errorf("keys below %s in the clusters: %v, want %v", prefix, got, want)
		}
	}
	leases, err := etcd.etcd(t, 1).Leases(ctx)
	if err != nil || len(leases.Leases) == 0 {
		t.Errorf("leases in the cluster of events: %v, %v, want one", leases, err)
	}

	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	c = clientset(t, controlplanetest.Start(t, controlplane.Options{DataDir: dir, Etcd: etcd.options}))
	if _, err := c.AppsV1().Deployments("default").Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Error("after a restart: ", err)
	}
	if _, err := c.CoreV1().Events("default").Get(ctx, "one", metav1.GetOptions{}); err != nil {
		t.Error("after a restart: ", err)
	}
}

// TestEtcdOverrideOutage: without one cluster, requests for its resources fail, /readyz names it, and all others are answered.
// When it is back, so are its resources.
func TestEtcdOverrideOutage(t *testing.T) {
	etcd := startOverridden(t)
	cp := controlplanetest.Start(t, controlplane.Options{Etcd: etcd.options})
	c, ctx := clientset(t, cp), t.Context()
	get := controlplanetest.Getter(t, cp.Config())
	if code, text := get("/readyz?verbose"); code != 200 || !strings.Contains(text, `[+]etcd ok
[+]etcd-readiness ok
[+]etcd-override-0 ok
[+]etcd-override-readiness-0 ok
[+]etcd-override-1 ok
[+]etcd-override-readiness-1 ok
[+]informer-sync ok
`) {
		t.Errorf("%d %s", code, text)
	}
	etcd.events.Set(badnet.Conditions{Refuse: true})
	etcd.events.Reset()
	_, err := c.CoreV1().Events("default").Create(ctx, eventOf("lost"), metav1.CreateOptions{})
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code < 500 {
		t.Errorf("an event without its etcd: %v, want a server error", err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap("other", "1"), metav1.CreateOptions{}); err != nil {
		t.Error("a config map: ", err)
	}
	if _, err := c.AppsV1().Deployments("default").Create(ctx, deploymentOf("other"), metav1.CreateOptions{}); err != nil {
		t.Error("a deployment: ", err)
	}
	bound, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for code, _ := get("/readyz/etcd-override-0"); code != 500 && bound.Err() == nil; code, _ = get("/readyz/etcd-override-0") {
	}
	if code, text := get("/readyz"); code != 500 || !strings.Contains(text, "[-]etcd-override-0 failed") || !strings.Contains(text, "[+]etcd ok") || !strings.Contains(text, "[+]etcd-override-1 ok") {
		t.Errorf("without the etcd of events: %d %s", code, text)
	}

	etcd.events.Set(badnet.Conditions{})
	for {
		_, err := c.CoreV1().Events("default").Create(ctx, eventOf("back"), metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			break
		}
		if bound.Err() != nil {
			t.Fatal("etcd is back: ", err)
		}
	}
	if _, err := c.CoreV1().Events("default").Get(ctx, "back", metav1.GetOptions{}); err != nil {
		t.Error("etcd is back: ", err)
	}
}

// TestEtcdOverrideCompaction: a compaction of one cluster ends the history of its resources alone.
func TestEtcdOverrideCompaction(t *testing.T) {
	etcd := startOverridden(t)
	cp := controlplanetest.Start(t, controlplane.Options{Etcd: etcd.options})
	c, ctx := clientset(t, cp), t.Context()
	first, err := c.AppsV1().Deployments("default").Create(ctx, deploymentOf("first"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last, err := c.AppsV1().Deployments("default").Create(ctx, deploymentOf("last"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap("one", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Create(ctx, configMap("two", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	rev, err := strconv.ParseInt(last.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.etcd(t, 2).Compact(ctx, rev); err != nil {
		t.Fatal(err)
	}
	later := clientset(t, controlplanetest.Start(t, controlplane.Options{Etcd: etcd.options})) // which has no history of its own
	w, err := later.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: one.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	waitFor(t, w, watch.Added, "two")
	old, err := later.AppsV1().Deployments("default").Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	if err == nil {
		defer old.Stop()
		select {
		case e := <-old.ResultChan():
			err = apierrors.FromObject(e.Object)
		case <-time.After(time.Minute):
			t.Fatal("a watch from before the compaction waits")
		}
	}
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from before the compaction: %v, want 410", err)
	}
}
