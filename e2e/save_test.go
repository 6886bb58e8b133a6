package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// observer has the names of the ConfigMaps in the namespace default that an informer of client-go knows.
type observer struct {
	mu    sync.Mutex
	names map[string]bool
}

func (o *observer) has(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.names[name]
}

// observe starts an informer that ends with the test.
func observe(t *testing.T, c kubernetes.Interface) *observer {
	t.Helper()
	o := &observer{names: map[string]bool{}}
	set := func(object any, there bool) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.names[object.(*corev1.ConfigMap).Name] = there
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { set(object, true) },
		UpdateFunc: func(_, object any) { set(object, true) },
		DeleteFunc: func(object any) { set(object, false) },
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer has no list")
	}
	return o
}

// TestReset: the objects go, and clients that know the server go on. A stopped server begins anew, too.
func TestReset(t *testing.T) {
	for _, args := range [][]string{{"--name=disk"}, {"--name=memory", "--in-memory"}} {
		name := strings.TrimPrefix(args[0], "--name=")
		t.Run(name, func(t *testing.T) {
			newUser(t)
			p := background(t, args...)
			p.settled()
			c := p.clientset()
			p.kubectl("create", "configmap", "old")
			p.kubectl("create", "namespace", "shop")
			seen := observe(t, c)
			eventually(t, "the ConfigMap in the informer", func() bool { return seen.has("old") })
			kubeconfig, err := os.ReadFile(p.Kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			before := p.kubectl("get", "configmap", "old", "-o", "jsonpath={.metadata.resourceVersion}")

			expect(t, "reset", fairlead(t, "reset", name).errs, "✓ Reset", name)
			if got := state(t, name); got.State != "running" || got.PID != p.PID || got.Server != p.Server {
				t.Errorf("after reset: %+v", got)
			}
			p.kubectlFails("get", "configmap", "old")
			p.kubectlFails("get", "namespace", "shop")
			eventually(t, "the informer to see the reset", func() bool { return !seen.has("old") })
			p.settled()
			if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the informer to see a new object", func() bool { return seen.has("new") })
			// The kubeconfig of before, and a watch from a revision of before.
			old := *p
			old.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(old.Kubeconfig, kubeconfig, 0o600); err != nil {
				t.Fatal(err)
			}
			old.kubectl("get", "configmap", "new")
			expect(t, "a watch from before", old.kubectl("get", "--raw", "/api/v1/configmaps?watch=true&resourceVersion="+before), `"code":410`)

			if name == "memory" {
				return
			}
			fairlead(t, "down", name)
			expect(t, "reset of a stopped server", fairlead(t, "reset", name).errs, "✓ Reset")
			again := background(t, args...)
			if again.Server != p.Server {
				t.Errorf("%s became %s", p.Server, again.Server)
			}
			old.kubectlFails("get", "configmap", "new")
			eventually(t, "the informer to see the second reset", func() bool { return !seen.has("new") })
		})
	}
}

const lampDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}
`

const lamp = `apiVersion: example.com/v1
kind: Gadget
metadata: {name: lamp}
spec: {}
`

// TestSaveAndLoad: a saved cluster comes back in the server that it is from, in a stopped one, and in a new one, with
// custom resources, keys and tokens.
func TestSaveAndLoad(t *testing.T) {
	home := newUser(t)
	p := background(t, "--name=shop")
	p.settled()
	p.kubectlWithInput(lampDefinition, "apply", "-f", "-")
	p.kubectl("wait", "--for=condition=Established", "crd/gadgets.example.com", "--timeout="+patience.String())
	p.kubectlWithInput(lamp, "apply", "-f", "-")
	p.kubectl("create", "configmap", "kept", "--from-literal=a=b")
	p.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
	p.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	p.kubectl("create", "clusterrolebinding", "viewer", "--clusterrole=view", "--serviceaccount=default:default")
	token := p.kubectl("create", "token", "default", "--duration=24h")
	uids := func(p *process) string {
		p.t.Helper()
		return p.kubectl("get", "gadget/lamp", "configmap/kept", "deployment/web", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	want := uids(p)
	seen := observe(t, p.clientset())

	expect(t, "save", fairlead(t, "save", "fixture", "--name=shop").errs, "✓ Saved", "fixture: ", "keys at revision")
	list := parse[struct {
		Saves []struct {
			Name, File string
			Bytes      int64
		}
	}](t, fairlead(t, "saves", "-o", "json")).Saves
	if len(list) != 1 || list[0].Name != "fixture" || list[0].Bytes == 0 || list[0].File != filepath.Join(home, ".local", "state", "fairlead", "saves", "fixture.db") {
		t.Fatalf("saves: %+v", list)
	}
	if info, err := os.Stat(list[0].File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", list[0].File, info, err)
	}

	// Back in the running server, whose clients go on.
	p.kubectl("delete", "gadget/lamp", "configmap/kept", "deployment/web")
	p.kubectl("create", "configmap", "after")
	eventually(t, "the informer to see the changes", func() bool { return seen.has("after") && !seen.has("kept") })
	expect(t, "load", fairlead(t, "load", "fixture", "--name=shop").errs, "✓ Loaded", "fixture: ")
	if got := uids(p); got != want {
		t.Errorf("UIDs %s, want %s", got, want)
	}
	p.kubectlFails("get", "configmap", "after")
	eventually(t, "the informer to see the load", func() bool { return !seen.has("after") && seen.has("kept") })
	p.kubectlWithInput(strings.Replace(lamp, "lamp", "second", 1), "apply", "-f", "-")
	if got := p.kubectl("get", "gadget/second", "-o", "jsonpath={.spec.size}"); got != "3" {
		t.Errorf("the default of a new custom resource: %q", got)
	}
	p.kubectl("scale", "deployment/web", "--replicas=3")
	p.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())

	// In a stopped server.
	fairlead(t, "down", "shop")
	expect(t, "load into a stopped server", fairlead(t, "load", "fixture", "--name=shop").errs, "✓ Loaded")
	p = background(t, "--name=shop")
	if got := uids(p); got != want {
		t.Errorf("UIDs %s, want %s", got, want)
	}
	p.kubectlFails("get", "gadget", "second")

	// In new ones, in memory and on disk: kubeconfigs and tokens of the first one are good there.
	for _, args := range [][]string{{"--name=copy", "--in-memory"}, {"--name=disk"}} {
		copied := background(t, append(args, "--load=fixture")...)
		if got := uids(copied); got != want {
			t.Errorf("%q: UIDs %s, want %s", args, got, want)
		}
		copied.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
		config := p.config()
		config.Host = copied.Server
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Errorf("%q: the first server's kubeconfig: %v", args, err)
		}
		config.CertData, config.KeyData, config.BearerToken = nil, nil, token
		if c, err = kubernetes.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Errorf("%q: the first server's token: %v", args, err)
		}
		copied.kubectl("create", "configmap", "of-the-copy")
		p.kubectlFails("get", "configmap", "of-the-copy")
	}

	// A server with other keys gets those of the saved cluster, and the user's context with it.
	background(t, "--name=other", "--in-memory")
	fairlead(t, "load", "fixture", "--name=other")
	mine := &process{t: t, stderr: new(output), Kubeconfig: filepath.Join(home, ".kube", "config")}
	mine.kubectl("--context=fairlead-other", "get", "gadget", "lamp")
}

// Files with a path, of running and stopped servers, and the errors.
func TestSaveErrors(t *testing.T) {
	newUser(t)
	p := background(t, "--merge-kubeconfig=false")
	p.settled()
	p.kubectl("create", "configmap", "kept")
	if r := fairlead(t, "save", "-f", "cluster.db"); r.code != 0 {
		t.Fatalf("save: exit %d\n%s", r.code, r.errs)
	}
	fairlead(t, "save", "-f", "cluster.db").fails(t, 1, "cluster.db exists: --force replaces it")
	fairlead(t, "save", "-f", "cluster.db", "--force").does(t, "")
	fairlead(t, "load", "nope").fails(t, 1, "there is no saved cluster nope: `fairlead saves` shows all")
	fairlead(t, "load", "-f", "nope.db").fails(t, 1, "there is no saved cluster")
	fairlead(t, "save", "x", "--name=nope").fails(t, 1, "there is no server \"nope\"")
	fairlead(t, "up", "-d", "--name=new", "--load=nope").fails(t, 1, "there is no saved cluster nope")
	fairlead(t, "saves", "delete", "nope").fails(t, 1, "there is no saved cluster nope")
	for _, line := range []string{"save", "load", "save a -f b", "load a b", "save A", "load ./a", "up --load=A", "saves delete", "saves -o xml"} {
		r := fairlead(t, strings.Fields(line)...)
		r.fails(t, 2, "fairlead: ")
	}
	whole, err := os.ReadFile("cluster.db")
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile("damaged.db", whole, 0o600); err != nil {
		t.Fatal(err)
	}
	fairlead(t, "load", "-f", "damaged.db").fails(t, 1, "checksum", "damaged.db")
	if r := fairlead(t, "store", "snapshot", "save", "store.db"); r.code != 0 {
		t.Fatalf("store snapshot save: exit %d\n%s", r.code, r.errs)
	}
	fairlead(t, "load", "-f", "store.db").fails(t, 1, "store.db has no keys of a control plane", "store snapshot restore")
	p.kubectl("get", "configmap", "kept") // it serves as before
	fairlead(t, "down").does(t, "")
	fairlead(t, "save", "-f", "stopped.db").does(t, "")
	fairlead(t, "up", "-d", "--load=./stopped.db").fails(t, 1, "has objects already", "fairlead load")
	t.Chdir(t.TempDir())
	virtual := background(t, "--in-memory", "--clock=virtual", "--merge-kubeconfig=false")
	for _, line := range []string{"reset", "save x"} {
		fairlead(t, strings.Fields(line)...).fails(t, 1, "--clock=virtual can be neither reset, saved nor loaded")
	}
	virtual.kubectl("get", "namespaces")
	if r := fairlead(t, "down"); r.code != 0 {
		t.Errorf("down: exit %d\n%s", r.code, r.errs)
	}
}

// A saved cluster with which no server can start: a running one goes on with its objects, and a new one leaves no files.
func TestLoadThatFails(t *testing.T) {
	newUser(t)
	broken := background(t, "--name=broken", "--in-memory", "--etcd-listen=127.0.0.1:0")
	etcdPut(t, etcdClient(t, broken.Etcd), "/registry/namespaces/default", "garbage")
	fairlead(t, "save", "broken", "--name=broken").does(t, "")
	for _, args := range [][]string{{"--name=disk"}, {"--name=memory", "--in-memory"}} {
		p := background(t, args...)
		p.settled()
		p.kubectl("create", "configmap", "kept")
		fairlead(t, "load", "broken", args[0]).fails(t, 1, "/registry/namespaces/default", "cannot be read")
		p.kubectl("get", "configmap", "kept")
		if got := state(t, strings.TrimPrefix(args[0], "--name=")); got.PID != p.PID || got.Server != p.Server {
			t.Errorf("after a load that fails: %+v", got)
		}
	}
	r := fairlead(t, "up", "-d", "--name=new", "--load=broken")
	if r.code != 1 || !strings.Contains(r.errs, "cannot be read") {
		t.Errorf("up --load: exit %d\n%s", r.code, r.errs)
	}
	if all := instances(t); len(all) != 3 {
		t.Errorf("left behind: %+v", all)
	}
}

// A saved cluster is also a snapshot of its store, whose keys an etcd gets.
func TestSaveIsSnapshot(t *testing.T) {
	newUser(t)
	p := background(t, "--in-memory")
	p.kubectl("create", "configmap", "kept")
	fairlead(t, "save", "-f", "cluster.db").does(t, "")
	theirs := startRealEtcd(t)
	if r := fairlead(t, "store", "snapshot", "restore", "cluster.db", "--endpoints", theirs); r.code != 0 {
		t.Fatalf("restore: exit %d\n%s", r.code, r.errs)
	}
	on := up(t, t.TempDir(), "--etcd-servers", theirs)
	on.kubectl("get", "configmap", "kept")
	config := p.config()
	config.Host = on.Server
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("the kubeconfig of the saved server: %v", err)
	}
	dir := filepath.Dir(on.CAFile)
	for _, line := range []string{"reset", "save x"} {
		fairlead(t, append(strings.Fields(line), "--data-dir", dir)...).fails(t, 1, "the objects are in etcd")
	}
	on.stop()
	fairlead(t, "reset", "--data-dir", dir).fails(t, 1, "the objects are in etcd")
}

// Requests during a reset wait for the new control plane; the system refuses no connection.
func TestResetUnderRequests(t *testing.T) {
	newUser(t)
	p := background(t, "--in-memory", "--nodes=0")
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- func() error {
			for ctx.Err() == nil {
				c, err := kubernetes.NewForConfig(config) // with a connection of its own
				if err != nil {
					return err
				}
				_, err = c.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
				if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "connection refused") {
					return err
				}
			}
			return nil
		}()
	}()
	for range 5 {
		if r := fairlead(t, "reset"); r.code != 0 {
			t.Errorf("reset: exit %d\n%s", r.code, r.errs)
		}
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("a request hangs")
	}
}

// The shell completes names of saved clusters.
func TestCompletionOfSaves(t *testing.T) {
	newUser(t)
	background(t, "--in-memory", "--nodes=0", "--merge-kubeconfig=false")
	for _, name := range []string{"one", "two"} {
		fairlead(t, "save", name).does(t, "")
	}
	for _, line := range []string{"load ", "save ", "up --load ", "saves delete "} {
		r := fairlead(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if !strings.HasPrefix(r.out, "one\ntwo\n:4") {
			t.Errorf("%s: %q\n%s", line, r.out, r.errs)
		}
	}
	expect(t, "saves", fairlead(t, "saves").out, "NAME", "one", "two")
	expect(t, "saves delete", fairlead(t, "saves", "delete", "one").errs, "✓ Deleted")
	var left struct{ Saves []struct{ Name string } }
	if err := json.Unmarshal([]byte(fairlead(t, "saves", "-o", "json").out), &left); err != nil || len(left.Saves) != 1 {
		t.Errorf("saves: %+v, %v", left, err)
	}
}
