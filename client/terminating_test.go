package client_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// Of a namespace that goes, one refusal is enough; of the next one of its name, every
// event is sent.
func TestRecorderAndNamespacesThatGo(t *testing.T) {
	c, s := scripted(t, client.Options{}, nil)
	var asked []string
	s.h = func(w http.ResponseWriter, r *http.Request) {
		var ev corev1.Event
		if err := json.Unmarshal([]byte(s.body[len(s.body)-1]), &ev); err != nil {
			t.Error(err)
		}
		asked = append(asked, ev.InvolvedObject.Name)
		if ev.Namespace != "shop" || ev.InvolvedObject.Name == "successor" {
			json.NewEncoder(w).Encode(ev)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
		})
	}
	r := client.NewRecorder(c, "tester")
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, o := range []struct {
		namespace, name string
		created         time.Time
	}{
		{"shop", "refused", noon},
		{"shop", "older", noon.Add(-time.Second)},
		{"shop", "as old", noon}, // or of the same second, in the next namespace
		{"other", "older", noon.Add(-time.Second)},
		{"shop", "unborn", time.Time{}},
		{"shop", "successor", noon.Add(time.Second)},
	} {
		r.Event(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: o.name, Namespace: o.namespace, CreationTimestamp: metav1.NewTime(o.created),
		}}, corev1.EventTypeNormal, "Killing", "Stopping container web")
	}
	r.Close()
	want := []string{"refused", "as old", "older", "unborn", "successor"}
	if len(asked) != len(want) || r.Dropped() != 4 {
		t.Fatalf("asked about %q, %d dropped; want %q, 4", asked, r.Dropped(), want)
	}
	for i := range want {
		if asked[i] != want[i] {
			t.Errorf("asked about %q, want %q", asked, want)
		}
	}
}
