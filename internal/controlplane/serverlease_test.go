package controlplane_test

import (
	"crypto/sha256"
	"encoding/base32"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/cryptobyte"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
)

// serverName is the name of a kube-apiserver on this machine, computed by the library that kube-apiserver computes it by.
func serverName(t *testing.T) (name, host string) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	b := cryptobyte.NewBuilder(nil)
	for _, word := range []string{host, "kube-apiserver"} {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(word)) })
	}
	sum := sha256.Sum256(b.BytesOrPanic())
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16])), host
}

// systemLeases are the Leases in kube-system of a control plane.
func systemLeases(cp *controlplane.ControlPlane) typed.LeaseInterface {
	return kubernetes.NewForConfigOrDie(cp.Config()).CoordinationV1().Leases(metav1.NamespaceSystem)
}

// TestServerLease: the server creates its Lease with kube-apiserver's fields, renews it every ten seconds, also after
// others have changed or deleted it, and deletes the expired Leases of other API servers.
func TestServerLease(t *testing.T) {
	dir := t.TempDir()
	name, host := serverName(t)
	synctest.Test(t, func(t *testing.T) {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, InMemory: true, Network: new(memnet.Network)})
		if err != nil {
			t.Fatal(err)
		}
		defer cp.Stop()
		leases := systemLeases(cp)
		get := func() *coordinationv1.Lease {
			t.Helper()
			l, err := leases.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		synctest.Wait()
		first := get()
		holder := ptr.Deref(first.Spec.HolderIdentity, "")
		if !strings.HasPrefix(holder, name+"_") || len(holder) != len(name)+37 {
			t.Errorf("holder %q", holder)
		}
		if l := first.Labels; len(l) != 2 || l["apiserver.kubernetes.io/identity"] != "kube-apiserver" || l["kubernetes.io/hostname"] != host {
			t.Errorf("labels %v", l)
		}
		if s := first.Spec; *s.LeaseDurationSeconds != 3600 || s.AcquireTime != nil || s.LeaseTransitions != nil || len(first.ManagedFields) != 1 || first.ManagedFields[0].Manager != "kube-apiserver" {
			t.Errorf("%+v by %+v", s, first.ManagedFields)
		}

		time.Sleep(21 * time.Second)
		second := get()
		if d := second.Spec.RenewTime.Sub(first.Spec.RenewTime.Time); d < 20*time.Second || d > 21*time.Second || second.UID != first.UID {
			t.Errorf("two renewals in %v", d)
		}
		second.Labels, second.Spec.LeaseDurationSeconds = nil, ptr.To[int32](1)
		if _, err := leases.Update(t.Context(), second, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if l := get(); len(l.Labels) != 2 || *l.Spec.LeaseDurationSeconds != 3600 || l.UID != first.UID {
			t.Errorf("after another's update: %v %+v", l.Labels, l.Spec)
		}
		if err := leases.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if l := get(); l.UID == first.UID || *l.Spec.HolderIdentity != holder {
			t.Errorf("after a delete: %s %s", l.UID, *l.Spec.HolderIdentity)
		}

		others := map[string]struct {
			identity string
			spec     coordinationv1.LeaseSpec
			goes     bool
		}{
			"expired":   {"kube-apiserver", renewedAt(time.Now().Add(-2*time.Hour), 3600), true},
			"good":      {"kube-apiserver", renewedAt(time.Now(), 3*3600), false},
			"untimed":   {"kube-apiserver", coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](9)}, true},
			"unlimited": {"kube-apiserver", coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NowMicro())}, true},
			"aggregate": {"sample-apiserver", renewedAt(time.Now().Add(-2*time.Hour), 3600), false},
		}
		for name, o := range others {
			l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"apiserver.kubernetes.io/identity": o.identity}}, Spec: o.spec}
			if _, err := leases.Create(t.Context(), l, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour + 11*time.Second)
		for name, o := range others {
			if _, err := leases.Get(t.Context(), name, metav1.GetOptions{}); apierrors.IsNotFound(err) != o.goes {
				t.Errorf("%s after an hour: %v", name, err)
			}
		}
	})
}

func renewedAt(at time.Time, seconds int32) coordinationv1.LeaseSpec {
	return coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other"), RenewTime: &metav1.MicroTime{Time: at}, LeaseDurationSeconds: &seconds}
}

// TestServerLeaseSleeps: the Lease of a fork is that of its origin. While the fork sleeps, it writes nothing; awake, it
// renews the Lease a few times an hour.
func TestServerLeaseSleeps(t *testing.T) {
	dir := t.TempDir()
	name, _ := serverName(t)
	synctest.Test(t, func(t *testing.T) {
		cp := forkOf(t, frozen(t, controlplane.Options{Controllers: []string{"ttl"}, Sleeps: true}, 0, 0), dir)
		defer cp.Stop()
		_, before, _ := cp.Revisions()
		time.Sleep(6 * time.Hour)
		if _, after, _ := cp.Revisions(); after != before {
			t.Errorf("%d writes in the sleep", after-before)
		}
		leases := systemLeases(cp)
		old, err := leases.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2400 { // a write each second keeps it awake
			if _, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{GenerateName: "tick-"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		l, err := leases.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(l.Spec.RenewTime.Time); d > 20*time.Minute || l.UID != old.UID || *l.Spec.HolderIdentity != *old.Spec.HolderIdentity {
			t.Errorf("awake, it was renewed %v ago: %s %+v", d, l.UID, l.Spec)
		}
	})
}
