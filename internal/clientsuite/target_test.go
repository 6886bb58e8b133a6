package clientsuite

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"

	"fairlead.dev/client"
	"fairlead.dev/internal/badnet"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/port"
)

var (
	kubeconfig = flag.String("kubeconfig", "", "how to reach the server to test against, instead of one of our own")
	etcd       = flag.String("etcd", "", "the etcd that server keeps everything in, to compact it")
	restart    = flag.String("restart", "", "the URL to post to for the server to be restarted")
)

// target is the server that all tests share.
var target struct {
	config  *rest.Config
	restart func(*testing.T)
	compact func(*testing.T)
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(pluginDir); dir != "" {
		if err := plugin(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// A dead HTTP/2 connection is found within four seconds instead of 45; a process that
	// is only not scheduled for a while does not count as dead.
	os.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	os.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "3")
	transport.CertCallbackRefreshDuration = 20 * time.Millisecond // instead of five minutes
	slog.SetDefault(slog.New(slog.DiscardHandler))                // of informers that cannot follow, which these tests cause
	os.Exit(func() int {
		defer useProxy()()
		end, err := prepare()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer end()
		return m.Run()
	}())
}

// prepare finds the server, or starts ours.
func prepare() (end func(), err error) {
	if *kubeconfig == "" {
		return ours()
	}
	if target.config, err = clientcmd.BuildConfigFromFlags("", *kubeconfig); err != nil {
		return nil, err
	}
	target.compact = func(t *testing.T) {
		t.Helper()
		if *etcd == "" {
			t.Skip("needs -etcd")
		}
		compact(t, *etcd)
	}
	target.restart = func(t *testing.T) {
		t.Helper()
		if *restart == "" {
			t.Skip("needs -restart")
		}
		res, err := http.Post(*restart, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatal("it was not restarted: ", res.Status)
		}
	}
	return func() {}, nil
}

// compact has an etcd forget all but the present.
func compact(t *testing.T, endpoint string) {
	t.Helper()
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now, err := store.Get(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Compact(t.Context(), now.Header.Revision); err != nil {
		t.Fatal(err)
	}
}

// ours starts this project's server, with its store on disk and served as etcd too.
func ours() (end func(), err error) {
	dir, err := os.MkdirTemp("", "fairlead-clientsuite-")
	if err != nil {
		return nil, err
	}
	free, err := port.Free(1) // where clients will look for it after a restart
	if err != nil {
		return nil, err
	}
	o := controlplane.Options{DataDir: dir, Listen: free[0], EtcdListen: "127.0.0.1:0"}
	cp, err := controlplane.Start(context.Background(), o)
	if err != nil {
		return nil, err
	}
	target.config = cp.Config()
	target.restart = func(t *testing.T) {
		t.Helper()
		if err := cp.Stop(); err != nil {
			t.Fatal(err)
		}
		if cp, err = controlplane.Start(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	target.compact = func(t *testing.T) {
		t.Helper()
		compact(t, cp.EtcdURL())
	}
	return func() { cp.Stop(); os.RemoveAll(dir) }, nil
}

// connect returns a client of the server over config, or the plain one if that is nil.
func connect(t *testing.T, config *rest.Config, o client.Options) *client.Client {
	t.Helper()
	if config == nil {
		config = target.config
	}
	c, err := client.New(config, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// network returns a network that can be broken, and how to reach the server through it.
func network(t *testing.T) (*badnet.Proxy, *rest.Config) {
	t.Helper()
	u, err := url.Parse(target.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p, err := badnet.New(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	config := rest.CopyConfig(target.config)
	config.Host = "https://" + p.Addr()
	return p, config
}

// newNamespace makes a namespace in which pods can be made. It is never deleted, since the
// server has no controllers.
func newNamespace(t *testing.T) string {
	t.Helper()
	c := connect(t, nil, client.Options{})
	ns, err := client.For[*corev1.Namespace](c).Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}})
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.For[*corev1.ServiceAccount](c).Namespace(ns.Name).Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}
