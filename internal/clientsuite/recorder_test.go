package clientsuite

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// TestRecorder: the server accepts a recorder's events, in both groups, and serves each in
// the other: repeats counted, many messages combined, repeated actions as a series.
func TestRecorder(t *testing.T) {
	ctx, c, ns := t.Context(), connect(t, nil, client.Options{}), newNamespace(t)
	pod, err := client.For[*corev1.Pod](c).Namespace(ns).Create(ctx, podOf("web"))
	if err != nil {
		t.Fatal(err)
	}
	r := client.NewRecorder(c, "tester")
	for range 3 {
		r.Event(pod, corev1.EventTypeWarning, "Repeated", "the same")
	}
	for n := range 14 {
		r.From("other", "host").Event(pod, corev1.EventTypeNormal, "Similar", "number %d", n)
	}
	for range 5 {
		r.Act(pod, nil, corev1.EventTypeNormal, "Acted", "Acting", "the same")
	}
	r.Close()
	if r.Dropped() != 0 {
		t.Errorf("%d events were not taken", r.Dropped())
	}

	old, err := client.For[*corev1.Event](c).Namespace(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
	if err != nil {
		t.Fatal(err)
	}
	similar := 0
	for _, e := range old.Items {
		switch e.Reason {
		case "Repeated":
			if e.Count != 3 || e.Type != corev1.EventTypeWarning || e.InvolvedObject.UID != pod.UID {
				t.Errorf("%+v", e)
			}
		case "Similar":
			if similar++; strings.HasPrefix(e.Message, "(combined") != (e.Count == 5) {
				t.Errorf("%+v", e)
			}
		case "Acted":
			if e.Series == nil || e.Series.Count != 5 || e.Action != "Acting" || e.ReportingController != "tester" {
				t.Errorf("%+v", e)
			}
		}
	}
	if len(old.Items) != 1+10+1 || similar != 10 {
		t.Errorf("%d events, %d of them similar", len(old.Items), similar)
	}
	l, err := client.For[*eventsv1.Event](c).Namespace(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=Repeated"})
	if err != nil || len(l.Items) != 1 || l.Items[0].DeprecatedCount != 3 || l.Items[0].Note != "the same" {
		t.Errorf("%v %+v", err, l.Items)
	}
}
