package clusters_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// server is a server that hosts clusters.
type server struct {
	*controlplane.ControlPlane
	clusters *clusters.Client
}

func serve(t testing.TB, o controlplane.Options) server {
	t.Helper()
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	o.Host = clusters.New(clusters.Options{Log: log})
	cp := controlplanetest.Start(t, o)
	c, err := clusters.NewClient(t.Context(), cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	return server{cp, c}
}

// create starts a control plane and returns the configuration of its administrator.
func (s server) create(t testing.TB, name string, spec clusters.Spec) *rest.Config {
	t.Helper()
	object, err := s.clusters.Create(t.Context(), &clusters.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	if want := s.URL() + "/clusters/" + name; object.Status.URL != want {
		t.Errorf("URL %q, want %q", object.Status.URL, want)
	}
	return s.config(t, name)
}

func (s server) config(t testing.TB, name string) *rest.Config {
	t.Helper()
	text, err := s.clusters.Kubeconfig(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func forkOf(name string) clusters.Spec { return clusters.Spec{From: &clusters.Origin{Cluster: name}} }

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// maps returns the names of the ConfigMaps of a control plane that a test has made.
func maps(t testing.TB, config *rest.Config) string {
	t.Helper()
	list, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list.Items {
		if m.Name != "kube-root-ca.crt" {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, " ")
}

func addMap(t testing.TB, config *rest.Config, name string) (revision string) {
	t.Helper()
	m, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m.ResourceVersion
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main"}}},
		},
	}}
}

// awaitReady returns when a Deployment has a ready pod.
func awaitReady(t testing.TB, config *rest.Config, name string) {
	t.Helper()
	w, err := kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if d, ok := e.Object.(*appsv1.Deployment); ok && d.Status.ReadyReplicas == 1 {
			return
		}
	}
	t.Fatalf("the watch of Deployment %s ended", name)
}

func TestLife(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{Controllers: []string{"*"}})
	base := s.create(t, "base", clusters.Spec{})
	first := addMap(t, base, "first")
	addMap(t, base, "second")
	if _, err := kubernetes.NewForConfigOrDie(base).AppsV1().Deployments("default").Create(ctx, deployment("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, base, "web")

	fork := s.create(t, "fork", forkOf("base"))
	early := s.create(t, "early", clusters.Spec{From: &clusters.Origin{Cluster: "base", Revision: first}})
	addMap(t, fork, "third")
	for name, got := range map[string]string{
		"first second": maps(t, base), "first second third": maps(t, fork), "first": maps(t, early),
	} {
		if got != name {
			t.Errorf("ConfigMaps %q, want %q", got, name)
		}
	}
	awaitReady(t, fork, "web") // its nodes run the pods of the base
	if _, err := kubernetes.NewForConfigOrDie(fork).AppsV1().Deployments("default").Create(ctx, deployment("more"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, fork, "more")

	w, err := kubernetes.NewForConfigOrDie(fork).CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object, err := s.clusters.Reset(ctx, "fork")
	if err != nil || object.Status.Resets != 1 {
		t.Fatal(object, err)
	}
	for range w.ResultChan() { // ends
	}
	if got := maps(t, fork); got != "first second" {
		t.Errorf("ConfigMaps after the reset: %q", got)
	}
	if _, err := s.clusters.Reset(ctx, "base"); err != nil {
		t.Fatal(err)
	}
	if got := maps(t, base); got != "" {
		t.Errorf("ConfigMaps of the base after its reset: %q", got)
	}

	if err := s.clusters.Delete(ctx, "fork"); err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(fork).CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted cluster: %v", err)
	}
	if _, err := s.clusters.Kubeconfig(ctx, "fork"); !apierrors.IsNotFound(err) {
		t.Errorf("the kubeconfig of a deleted cluster: %v", err)
	}
	list, err := s.clusters.List(ctx)
	if err != nil || len(list) != 2 {
		t.Errorf("%d clusters, %v", len(list), err)
	}
	s.create(t, "fork", clusters.Spec{}) // the name is free again
}

// A fork of the server itself has its objects, but neither its Clusters nor their kubeconfigs.
func TestForkOfServer(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{})
	s.create(t, "other", clusters.Spec{})
	addMap(t, s.Config(), "fixture")
	fork := s.create(t, "fork", forkOf(""))
	if got := maps(t, fork); got != "fixture" {
		t.Errorf("ConfigMaps %q", got)
	}
	c := kubernetes.NewForConfigOrDie(fork)
	secrets, err := c.CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err != nil || len(secrets.Items) > 0 {
		t.Errorf("Secrets %v, %v", secrets, err)
	}
	text, err := c.RESTClient().Get().AbsPath("/apis/fairlead.dev/v1/clusters").DoRaw(ctx)
	if err != nil || !strings.Contains(string(text), `"items":[]`) {
		t.Errorf("Clusters %s, %v", text, err)
	}
	// The administrator of the server is one of the fork.
	server := rest.CopyConfig(s.Config())
	server.Host = fork.Host
	if got := maps(t, server); got != "fixture" {
		t.Errorf("ConfigMaps %q", got)
	}
}

// The state of hosted clusters ends with the process, and so do their objects.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	t.Run("first", func(t *testing.T) {
		serve(t, controlplane.Options{DataDir: dir}).create(t, "a", clusters.Spec{})
	})
	log := &logged{}
	s := serve(t, controlplane.Options{DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil))})
	list, err := s.clusters.List(t.Context())
	if err != nil || len(list) > 0 {
		t.Errorf("clusters %v, %v", list, err)
	}
	if !strings.Contains(log.String(), "a hosted cluster has ended with the server's last process") {
		t.Errorf("log %q", log)
	}
	s.create(t, "a", clusters.Spec{})
}

// kubectl and controllers see a Cluster as any other object: its conditions are events of a watch.
func TestConditions(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{})
	admin := kubernetes.NewForConfigOrDie(s.Config())
	body := `{"apiVersion":"fairlead.dev/v1","kind":"Cluster","metadata":{"name":"a"},"spec":{"nodes":0,"scheduler":false,"controllers":["namespace"]}}`
	const path = "/apis/fairlead.dev/v1/clusters"
	if err := admin.RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error(); err != nil {
		t.Fatal(err)
	}
	list, err := s.clusters.List(ctx)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if _, err := s.clusters.Await(ctx, list[0]); err != nil {
		t.Fatal(err)
	}
	patch := func(text string) error {
		return admin.RESTClient().Patch("application/merge-patch+json").AbsPath(path, "a").Body([]byte(text)).Do(ctx).Error()
	}
	if err := patch(`{"spec":{"nodes":2}}`); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "only resets may change") {
		t.Errorf("a change of the nodes: %v", err)
	}
	if err := patch(`{"spec":{"resets":2}}`); err != nil {
		t.Error(err)
	}
	if err := patch(`{"spec":{"resets":1}}`); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "may only be raised") {
		t.Errorf("a lower number of resets: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{History: -1})
	base := s.create(t, "base", clusters.Spec{})
	for _, c := range []struct {
		name   string
		spec   clusters.Spec
		reason metav1.StatusReason
		text   string
	}{
		{"base", clusters.Spec{}, metav1.StatusReasonAlreadyExists, `clusters.fairlead.dev "base" already exists`},
		{"Base", clusters.Spec{}, metav1.StatusReasonInvalid, "must consist of lower case"},
		{"a.b", clusters.Spec{}, metav1.StatusReasonInvalid, "must be a DNS label"},
		{strings.Repeat("a", 64), clusters.Spec{}, metav1.StatusReasonInvalid, "must be a DNS label"},
		{"x", forkOf("gone"), metav1.StatusReasonInvalid, `spec.from.cluster: Not found: "gone"`},
		{"x", forkOf("x"), metav1.StatusReasonInvalid, `spec.from.cluster: Not found: "x"`},
		{"x", clusters.Spec{From: &clusters.Origin{Cluster: "base", Revision: "99999"}}, metav1.StatusReasonInvalid, "the revision is in the future"},
		{"x", clusters.Spec{From: &clusters.Origin{Cluster: "base", Revision: "0"}}, metav1.StatusReasonInvalid, "spec.from.revision"},
		{"x", clusters.Spec{From: &clusters.Origin{Cluster: "base", Revision: "latest"}}, metav1.StatusReasonInvalid, "spec.from.revision"},
		{"x", clusters.Spec{From: &clusters.Origin{Cluster: "base"}, Nodes: new(1)}, metav1.StatusReasonInvalid, "a fork has the controllers, scheduler and nodes of its origin"},
		{"x", clusters.Spec{Nodes: new(-1)}, metav1.StatusReasonInvalid, "spec.nodes"},
		{"x", clusters.Spec{Controllers: []string{"nope"}}, metav1.StatusReasonInvalid, "spec.controllers"},
	} {
		_, err := s.clusters.Create(ctx, &clusters.Cluster{ObjectMeta: metav1.ObjectMeta{Name: c.name}, Spec: c.spec})
		if apierrors.ReasonForError(err) != c.reason || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %+v: %v", c.name, c.spec, err)
		}
	}
	list, err := s.clusters.List(ctx)
	if err != nil || len(list) != 1 {
		t.Errorf("clusters %v, %v", list, err)
	}
	for what, err := range map[string]error{
		"reset":      second(s.clusters.Reset(ctx, "gone")),
		"delete":     s.clusters.Delete(ctx, "gone"),
		"kubeconfig": second(s.clusters.Kubeconfig(ctx, "gone")),
	} {
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s of a cluster that does not exist: %v", what, err)
		}
	}
	plain := controlplanetest.Start(t, controlplane.Options{})
	if _, err := clusters.NewClient(ctx, plain.Config()); !errors.Is(err, clusters.ErrNotHosting) {
		t.Errorf("a server that hosts no clusters: %v", err)
	}
	get := controlplanetest.Getter(t, base)
	if code, body := get("/nope"); code != http.StatusNotFound {
		t.Errorf("a path that no API has: %d %s", code, body)
	}
}

func second[T any](_ T, err error) error { return err }

// A write beyond the quota is refused as by etcd, and room comes back with a delete. Other control planes go on.
func TestStorage(t *testing.T) {
	ctx := t.Context()
	s := serve(t, controlplane.Options{})
	limit := quantity("1Mi")
	small := s.create(t, "small", clusters.Spec{Storage: &limit, Controllers: []string{"namespace"}, Nodes: new(0)})
	other := s.create(t, "other", clusters.Spec{Nodes: new(0)})
	c := kubernetes.NewForConfigOrDie(small).CoreV1().ConfigMaps("default")
	big := configMap("")
	big.GenerateName, big.Data = "big-", map[string]string{"text": strings.Repeat("x", 100<<10)}
	var last *corev1.ConfigMap
	for {
		made, err := c.Create(ctx, big, metav1.CreateOptions{})
		if err != nil {
			if !apierrors.IsInternalError(err) && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown || !strings.Contains(err.Error(), "etcdserver: mvcc: database space exceeded") {
				t.Fatal(err)
			}
			break
		}
		last = made
	}
	addMap(t, other, "goes-on")
	// Updates don't need more room: history makes room for them.
	for range 30 {
		updated, err := c.Update(ctx, last, metav1.UpdateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		updated.Data["text"] = strings.Repeat(updated.ResourceVersion[:1], 100<<10)
		last = updated
	}
	if err := c.Delete(ctx, last.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(ctx, big, metav1.CreateOptions{}); err != nil {
		t.Errorf("after a delete: %v", err)
	}
}

// A watch through a hosted cluster has the events of its own objects.
func TestWatch(t *testing.T) {
	s := serve(t, controlplane.Options{})
	a, b := s.create(t, "a", clusters.Spec{}), s.create(t, "b", clusters.Spec{})
	w, err := kubernetes.NewForConfigOrDie(a).CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	addMap(t, b, "of-b")
	addMap(t, a, "of-a")
	if e := <-w.ResultChan(); e.Type != watch.Added || e.Object.(*corev1.ConfigMap).Name != "of-a" {
		t.Errorf("event %v", e)
	}
}

// A stop of the server ends the clusters.
func TestStop(t *testing.T) {
	cp, err := controlplane.Start(context.Background(), controlplane.Options{
		DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", Host: clusters.New(clusters.Options{Log: slog.New(slog.DiscardHandler)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := clusters.NewClient(t.Context(), cp.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := server{cp, c}
	a := s.create(t, "a", clusters.Spec{})
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(a).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a cluster answers after the end of its server")
	}
}

// Control planes that have ended leave no goroutine and no file.
func TestNothingLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := serve(t, controlplane.Options{})
	cycle := func() {
		s.create(t, "a", clusters.Spec{})
		s.create(t, "b", forkOf("a"))
		if _, err := s.clusters.Reset(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			if err := s.clusters.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	cycle()
	before := runtime.NumGoroutine()
	for range 5 {
		cycle()
	}
	for runtime.NumGoroutine() > before+20 { // those of connections come and go; a control plane has hundreds
		runtime.Gosched()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}
