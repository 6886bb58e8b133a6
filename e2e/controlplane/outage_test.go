package controlplane_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/badnet"
	"fairlead.dev/internal/controlplane"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestEtcdOutage: without its etcd a server answers consistent reads with an error, and reads
// at any older revision from its cache. When etcd is back it continues, and its watches have
// missed no event.
func TestEtcdOutage(t *testing.T) {
	far := startEtcd(t)
	u, err := url.Parse(far.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	etcd := through(t, u.Host)
	far.Servers[0] = "https://" + etcd.Addr()
	_, cl := startReplica(t, controlplane.Options{DataDir: t.TempDir(), Etcd: far})
	maps := client.For[*corev1.ConfigMap](cl).Namespace("default")
	before, err := maps.Create(t.Context(), configMap("before", "1"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	// The server's cache has the object once a read at its revision succeeds.
	if _, err := maps.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: before.ResourceVersion}); err != nil {
		t.Fatal(err)
	}

	etcd.Set(badnet.Conditions{Refuse: true})
	etcd.Reset()
	if got, err := maps.Get(t.Context(), "before", metav1.GetOptions{ResourceVersion: "0"}); err != nil || got.UID != before.UID {
		t.Errorf("a read from the cache, without etcd: %v, %v", got, err)
	}
	_, err = maps.Get(t.Context(), "before")
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code < 500 {
		t.Errorf("a consistent read, without etcd: %v, want a server error", err)
	}

	etcd.Set(badnet.Conditions{})
	var after *corev1.ConfigMap
	for deadline := time.Now().Add(time.Minute); ; {
		if after, err = maps.Create(t.Context(), configMap("after", "1")); apierrors.IsAlreadyExists(err) {
			after, err = maps.Get(t.Context(), "after") // of one whose answer was lost
		}
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("etcd is back: ", err)
		}
	}
	timer := time.AfterFunc(time.Minute, w.Stop)
	defer timer.Stop()
	for {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatal("the watch: ", err)
		}
		if e.Type == watch.Bookmark {
			continue
		}
		if e.Type != watch.Added || e.Object.ResourceVersion != after.ResourceVersion {
			t.Errorf("the watch goes on with %s %s at %s, want %s", e.Type, e.Object.Name, e.Object.ResourceVersion, after.ResourceVersion)
		}
		break
	}
	if got, err := maps.Get(t.Context(), "after"); err != nil || got.UID != after.UID {
		t.Errorf("etcd is back: %v, %v", got, err)
	}
}
