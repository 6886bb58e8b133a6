package e2e

import (
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// date returns the Date header of an answer.
func (p *process) date() time.Time {
	p.t.Helper()
	c, err := rest.HTTPClientFor(p.config())
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := c.Get(p.Server + "/version")
	if err != nil {
		p.t.Fatal(err)
	}
	res.Body.Close()
	at, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		p.t.Fatal(err)
	}
	return at
}

// TestVirtualClockTimes: what clients see of the server's time moves with the clock, and by nothing else.
func TestVirtualClockTimes(t *testing.T) {
	p := launch(t, "server", "--in-memory", "--clock=virtual", "--listen=127.0.0.1:0", "--data-dir", t.TempDir())
	ctx := t.Context()
	for _, by := range []string{"1s", "90m", "1000h"} {
		at, _ := p.clock("advance", by)
		want := at.Truncate(time.Second)
		if date := p.date(); !date.Equal(want) {
			t.Errorf("after %s: Date is %v, want %v", by, date, want)
		}
		m, err := p.clientset().CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if made := m.CreationTimestamp.Time; !made.Equal(want) || !m.ManagedFields[0].Time.Time.Equal(want) {
			t.Errorf("after %s: created at %v and %v, want %v", by, made, m.ManagedFields[0].Time, want)
		}
	}
	p.stop()
}

// TestVirtualClockLeases: nodes renew their Leases by the virtual clock, a node that does not is unreachable when its Lease
// has expired, and events end after an hour.
func TestVirtualClockLeases(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory", "--clock=virtual", "--nodes=2")
	ctx, c := t.Context(), p.clientset()
	lease := func(name string) *coordinationv1.Lease {
		t.Helper()
		l, err := c.CoordinationV1().Leases("kube-node-lease").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	p.clock("run", "--until=create", "lease/node-2", "-n", "kube-node-lease")
	p.clock("run", "--until=condition=Ready", "node/node-2")
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "x"},
	}
	if _, err := c.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	at, _ := p.clock("advance", "50m")
	first := lease("node-2")
	if age := at.Sub(first.Spec.RenewTime.Time); age < 0 || age > 15*time.Minute {
		t.Errorf("at %v the Lease was renewed at %v", at, first.Spec.RenewTime)
	}
	if _, err := c.CoreV1().Events("default").Get(ctx, "e", metav1.GetOptions{}); err != nil {
		t.Errorf("an event of 50 minutes: %v", err)
	}
	p.kubectl("annotate", "node", "node-2", "fairlead.dev/outage=true")
	gone, _ := p.clock("run", "--until=condition=Ready=Unknown", "node/node-2", "--limit=2m")
	// The grace period of the node lifecycle controller; times have whole seconds.
	if noticed := gone.Sub(at); noticed < 49*time.Second || noticed > time.Minute {
		t.Errorf("the outage was noticed after %v", noticed)
	}
	at, _ = p.clock("advance", "1h")
	if last := lease("node-2"); last.Spec.RenewTime.Time.After(gone) {
		t.Errorf("a node in an outage renewed its Lease at %v", last.Spec.RenewTime)
	}
	if other := lease("node-1"); at.Sub(other.Spec.RenewTime.Time) > 15*time.Minute {
		t.Errorf("at %v the other Lease was renewed at %v", at, other.Spec.RenewTime)
	}
	if _, err := c.CoreV1().Events("default").Get(ctx, "e", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an event of two hours: %v", err)
	}
	p.stop()
}
