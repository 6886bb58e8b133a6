package controlplane_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/controlplane/pki"
)

// startEtcd starts a cluster of one member, with TLS and required client certificates.
func startEtcd(t *testing.T) controlplane.Etcd {
	t.Helper()
	e, _ := startEtcds(t, 1)
	return e
}

// startEtcds starts clusters of one member each, which accept the same client certificates, and returns the URLs of those
// after the first.
func startEtcds(t *testing.T, n int) (first controlplane.Etcd, others []string) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := authority.Serving("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(serving.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := authority.Client("apiserver")
	if err != nil {
		t.Fatal(err)
	}
	ca := file("ca.crt", authority.PEM())

	client := transport.TLSInfo{
		CertFile:       file("server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serving.Certificate[0]})),
		KeyFile:        file("server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		TrustedCAFile:  ca,
		ClientCertAuth: true,
	}
	var urls []string
	for i := range n {
		urls = append(urls, startMember(t, filepath.Join(dir, fmt.Sprint("data-", i)), client))
	}
	return controlplane.Etcd{Servers: urls[:1], CAFile: ca, CertFile: file("client.crt", cert), KeyFile: file("client.key", key)}, urls[1:]
}

// startMember starts a cluster of one member, and returns its URL.
func startMember(t *testing.T, dir string, client transport.TLSInfo) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir = dir
	c.LogLevel = "fatal"
	c.UnsafeNoFsync = true
	c.TickMs, c.ElectionMs = 10, 100
	c.ListenClientUrls = []url.URL{{Scheme: "https", Host: "127.0.0.1:0"}}
	c.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c.ClientTLSInfo = client
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return "https://" + e.Clients[0].Addr().String()
}

// startReplica starts an API server over the cluster.
func startReplica(t *testing.T, o controlplane.Options) (*controlplane.ControlPlane, *client.Client) {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	cp := controlplanetest.Start(t, o)
	config := cp.Config()
	config.QPS = -1
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cp, c
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"v": value}}
}

// TestReplicas: two API servers on one etcd cluster act as one. An object that was written
// through one can be read through the other at once. A watch of one can continue at the
// other, and at a server that has just started.
func TestReplicas(t *testing.T) {
	etcd := startEtcd(t)
	etcd.Prefix = "/cluster-1"
	stranger := etcd
	stranger.CertFile, stranger.KeyFile = "", ""
	for limit := time.Second; ; limit *= 3 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := controlplane.Start(ctx, controlplane.Options{DataDir: t.TempDir(), Listen: "127.0.0.1:0", Etcd: stranger})
		cancel()
		if err != nil && strings.Contains(err.Error(), etcd.Servers[0]) {
			break
		}
		// The reason comes in a TLS alert, which can be lost when the connection closes. The
		// error names the server, unless the time was over before it was asked.
		if err == nil || limit > 10*time.Second {
			t.Fatalf("started without a certificate for etcd: %v, want an error that names the server", err)
		}
	}
	dirA, dirB := t.TempDir(), t.TempDir()
	cpA, a := startReplica(t, controlplane.Options{DataDir: dirA, Etcd: etcd})
	_, b := startReplica(t, controlplane.Options{DataDir: dirB, Etcd: etcd})
	mapsA, mapsB := client.For[*corev1.ConfigMap](a).Namespace("default"), client.For[*corev1.ConfigMap](b).Namespace("default")

	start, err := mapsA.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const n = 30
	for i := range n {
		name := fmt.Sprint("m", i)
		wrote, err := mapsA.Create(t.Context(), configMap(name, "1"))
		if err != nil {
			t.Fatal(err)
		}
		read, err := mapsB.Get(t.Context(), name)
		if err != nil || read.ResourceVersion != wrote.ResourceVersion || read.UID != wrote.UID {
			t.Fatalf("written at A as %s: B reads %v, %v", wrote.ResourceVersion, read, err)
		}
		list, err := mapsB.List(t.Context())
		if err != nil || len(list.Items) != len(start.Items)+i+1 {
			t.Fatalf("B lists %d, %v", len(list.Items), err)
		}
		// Each detects a conflict with the other's write.
		read.Data["v"] = "2"
		if _, err := mapsB.Update(t.Context(), read); err != nil {
			t.Fatal(err)
		}
		if _, err := mapsA.Update(t.Context(), wrote); !apierrors.IsConflict(err) {
			t.Fatalf("A updates what B has changed: %v", err)
		}
		if err := mapsA.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := mapsB.Get(t.Context(), name); !apierrors.IsNotFound(err) {
			t.Fatalf("deleted at A: B reads %v", err)
		}
		if _, err := mapsA.Create(t.Context(), configMap(name, "3")); err != nil {
			t.Fatal(err)
		}
	}

	// B sends the same events as A after the revision of A's list.
	story := func(maps client.Resource[*corev1.ConfigMap]) (told []string) {
		t.Helper()
		w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: start.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		timer := time.AfterFunc(time.Minute, w.Stop)
		defer timer.Stop()
		for len(told) < 4*n {
			e, err := w.Next(t.Context())
			if err != nil {
				t.Fatalf("after %d events: %v", len(told), err)
			}
			if e.Type != watch.Bookmark {
				told = append(told, fmt.Sprintf("%s %s=%s@%s", e.Type, e.Object.Name, e.Object.Data["v"], e.Object.ResourceVersion))
			}
		}
		return told
	}
	want := fmt.Sprint(story(mapsA))
	if got := fmt.Sprint(story(mapsB)); got != want {
		t.Errorf("B sent\n%s\nA sent\n%s", got, want)
	}
	if err := cpA.Stop(); err != nil {
		t.Error(err)
	}
	_, a = startReplica(t, controlplane.Options{DataDir: dirA, Etcd: etcd})
	if got := fmt.Sprint(story(client.For[*corev1.ConfigMap](a).Namespace("default"))); got != want {
		t.Errorf("A, started again, sent\n%s\nbefore\n%s", got, want)
	}
}

// TestReplicasShareKeys: servers on one cluster need no files copied between them. A
// directory with keys of its own is refused once the cluster has others.
func TestReplicasShareKeys(t *testing.T) {
	etcd := startEtcd(t)
	dirs := [2]string{t.TempDir(), t.TempDir()}
	a, _ := startReplica(t, controlplane.Options{DataDir: dirs[0], Etcd: etcd})
	b, _ := startReplica(t, controlplane.Options{DataDir: dirs[1], Etcd: etcd})
	if _, err := os.Stat(filepath.Join(dirs[1], "pki")); !os.IsNotExist(err) {
		t.Errorf("keys lie in the directory: %v", err)
	}
	// B accepts A's client certificate.
	config := a.Config()
	config.Host = b.Config().Host
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	if _, err := maps.Create(t.Context(), configMap("one", "1")); err != nil {
		t.Fatal(err)
	}
	// No request can read the keys.
	for _, path := range []string{"/registry/fairlead-pki", "/api/v1/fairlead-pki", "/fairlead-pki"} {
		if _, err := c.REST().Do(t.Context(), client.Request{Path: path}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", path, err)
		}
	}

	own := t.TempDir()
	if _, err := pki.Load(filepath.Join(own, "pki")); err != nil {
		t.Fatal(err)
	}
	_, err = controlplane.Start(t.Context(), controlplane.Options{DataDir: own, Listen: "127.0.0.1:0", Etcd: etcd})
	if err == nil || !strings.Contains(err.Error(), "are not those that the servers of this etcd cluster share") {
		t.Errorf("with other keys: %v", err)
	}
	// On a new cluster they become the shared ones.
	etcd.Prefix = "/cluster-2"
	keeper, _ := startReplica(t, controlplane.Options{DataDir: own, Etcd: etcd})
	follower, _ := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd})
	if !bytes.Equal(keeper.Config().CAData, follower.Config().CAData) {
		t.Error("the second server has another authority")
	}
}
