package clients_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// TestExtension runs upstream's sample API server as an aggregated server. It runs the
// transcripts of testdata/extension, and tests the garbage collection of the sample server's
// objects. A kube-apiserver of CLIENTS_KUBECONFIG needs --enable-aggregator-routing.
func TestExtension(t *testing.T) {
	g := newTarget(t)
	startSample(t, g)
	files, err := filepath.Glob("testdata/extension/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { runTranscript(t, g, f) })
	}
	t.Run("garbage", func(t *testing.T) { testGarbage(t, g) })
}

// sample are the cluster objects that the sample server needs: its namespace, Service and
// account, and the rights for delegated authentication and authorization.
const sample = `
apiVersion: v1
kind: Namespace
metadata: {name: wardle}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: apiserver, namespace: wardle}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: wardle-auth-delegator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects: [{kind: ServiceAccount, name: apiserver, namespace: wardle}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: wardle-auth-reader, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader}
subjects: [{kind: ServiceAccount, name: apiserver, namespace: wardle}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: wardle-watcher}
rules:
- {apiGroups: [""], resources: [namespaces], verbs: [get, list, watch]}
- {apiGroups: [admissionregistration.k8s.io], resources: ["*"], verbs: [get, list, watch]}
- {apiGroups: [flowcontrol.apiserver.k8s.io], resources: [prioritylevelconfigurations, flowschemas], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: wardle-watcher}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: wardle-watcher}
subjects: [{kind: ServiceAccount, name: apiserver, namespace: wardle}]
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: wardle}
spec:
  ports: [{name: https, port: 443}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: api-1
  namespace: wardle
  labels: {kubernetes.io/service-name: api}
addressType: IPv4
endpoints: [{addresses: ["%[1]s"]}]
ports: [{name: https, port: %[2]s}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1alpha1.wardle.example.com}
spec:
  {group: wardle.example.com, version: v1alpha1, groupPriorityMinimum: 1000, versionPriority: 15, caBundle: %[3]s, service: {namespace: wardle, name: api}}
`

// startSample runs upstream's sample API server, with a store of ours as its etcd, and waits
// until its APIService is Available.
func startSample(t *testing.T, g target) {
	t.Helper()
	k := kubectl{target: g, dir: t.TempDir()}
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := authority.Serving("api.wardle.svc")
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(serving.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	k.write(t, "tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serving.Certificate[0]})))
	k.write(t, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	address, port := freeAddress(t)
	k.write(t, "sample.yaml", fmt.Sprintf(sample, address, port, base64.StdEncoding.EncodeToString(authority.PEM())))
	k.must(t, "apply", "-f", filepath.Join(k.dir, "sample.yaml"))
	access := filepath.Join(k.dir, "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: g.config.Host, CertificateAuthorityData: g.config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: strings.TrimSpace(k.must(t, "create", "token", "apiserver", "--namespace=wardle"))}
	config.Contexts["x"], config.CurrentContext = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}, "x"
	if err := clientcmd.WriteToFile(*config, access); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(k.dir, "sample-apiserver")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/sample-apiserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(t, program, "--secure-port="+port, "--tls-cert-file="+filepath.Join(k.dir, "tls.crt"), "--tls-private-key-file="+filepath.Join(k.dir, "tls.key"),
		"--kubeconfig="+access, "--authentication-kubeconfig="+access, "--authorization-kubeconfig="+access, "--etcd-servers="+serveStore(t))
	k.must(t, "wait", "--for=condition=Available", "apiservice/v1alpha1.wardle.example.com", "--timeout=2m")
	for !g.ours && !strings.Contains(k.run("", "get", "--raw=/openapi/v3"), "wardle") { // kube-apiserver adds it later
		time.Sleep(time.Second)
	}
}

// testGarbage: the garbage collector deletes objects whose owner was in the sample server,
// and objects in the sample server whose owner was in ours.
func testGarbage(t *testing.T, g target) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, err := dynamic.NewForConfig(g.config)
	if err != nil {
		t.Fatal(err)
	}
	flunders := d.Resource(schema.GroupVersionResource{Group: "wardle.example.com", Version: "v1alpha1", Resource: "flunders"}).Namespace("default")
	maps := d.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	create := func(in dynamic.ResourceInterface, apiVersion, kind, name string, owner *unstructured.Unstructured) *unstructured.Unstructured {
		t.Helper()
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(apiVersion)
		u.SetKind(kind)
		u.SetName(name)
		if owner != nil {
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}})
		}
		u, err := in.Create(ctx, u, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	top := create(maps, "v1", "ConfigMap", "top", nil)
	middle := create(flunders, "wardle.example.com/v1alpha1", "Flunder", "middle", top)
	bottom := create(maps, "v1", "ConfigMap", "bottom", middle)
	follow := func(in dynamic.ResourceInterface, u *unstructured.Unstructured) <-chan watch.Event {
		t.Helper()
		w, err := in.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + u.GetName(), ResourceVersion: u.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w.ResultChan()
	}
	watches := []<-chan watch.Event{follow(flunders, middle), follow(maps, bottom)}
	if err := maps.Delete(ctx, "top", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range watches {
		gone := false
		for e := range w {
			if gone = e.Type == watch.Deleted; gone {
				break
			}
		}
		if !gone {
			t.Error("it was not collected")
		}
	}
}

// must is run, and fails the test if the command fails.
func (k kubectl) must(t *testing.T, args ...string) string {
	t.Helper()
	out := k.run("", args...)
	if strings.Contains(out, "\nexit ") || strings.HasPrefix(out, "exit ") {
		t.Fatalf("kubectl %s:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// serveStore serves an empty store as an etcd until the test ends.
func serveStore(t *testing.T) (url string) {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := etcdserver.New(etcdserver.Config{Store: store})
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
		store.Close()
	})
	return "http://" + l.Addr().String()
}

// freeAddress returns an address of this machine that an endpoint may have, which excludes
// loopback, and a free port.
func freeAddress(t *testing.T) (address, port string) {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.To4() == nil || !n.IP.IsGlobalUnicast() {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(n.IP.String(), "0"))
		if err != nil {
			continue
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return n.IP.String(), port
	}
	t.Skip("this machine has no address besides loopback")
	return "", ""
}

// run runs a program until the test ends. If the test fails, its output is logged.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", filepath.Base(program), b[max(0, len(b)-8000):])
		}
	})
}
