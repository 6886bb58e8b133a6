package webhook_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWaits checks that the time of webhooks is a part of a request's duration, and no part of the server's own.
func TestWaits(t *testing.T) {
	w := start(t)
	w.namespace(t, "waits")
	const takes = 200 * time.Millisecond
	for _, path := range []string{"first", "second", "third"} {
		w.hooks.says(path, func(*reviewv1.AdmissionRequest, *reviewv1.AdmissionResponse) { time.Sleep(takes) })
	}
	w.mutating(t, "a.example.com", w.mutate("first", "waits", nil))
	w.validating(t, "b.example.com", w.validate("second", "waits", nil))
	w.validating(t, "c.example.com", w.validate("third", "waits", nil)) // asked at the same time
	if _, err := w.CoreV1().ConfigMaps("waits").Create(background, configMap("c", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sum := func(family string) time.Duration {
		t.Helper()
		line := regexp.MustCompile(`(?m)^` + family + `_sum\{[^}]*resource="configmaps"[^}]*verb="POST"[^}]*\} (.*)$`)
		for { // a request is counted after its response
			text, err := w.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m := line.FindSubmatch(text); m != nil {
				seconds, err := strconv.ParseFloat(string(m[1]), 64)
				if err != nil {
					t.Fatal(err)
				}
				return time.Duration(seconds * float64(time.Second))
			}
		}
	}
	whole, own := sum("apiserver_request_duration_seconds"), sum("apiserver_request_sli_duration_seconds")
	if waited := whole - own; own <= 0 || waited < 2*takes || waited > whole {
		t.Errorf("of %v the request took %v itself, but each of its two steps waited %v", whole, own, takes)
	}
}
