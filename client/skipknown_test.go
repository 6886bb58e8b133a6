package client_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/client"
)

// TestSkipKnown: only events of versions that the reader has are not decoded.
func TestSkipKnown(t *testing.T) {
	event := func(object string) string { return `{"type":"MODIFIED","object":` + object + "}\n" }
	for name, c := range map[string]struct{ object, asked, want string }{
		"known":                {`{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a","uid":"u"},"spec":{"nodeName":"n"}}`, "u@7", "a@7 on "},
		"known, as upstream's": {`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"d","uid":"u","resourceVersion":"7","labels":{"x":"y"}},"spec":{"nodeName":"n"}}`, "u@7", "a@7 on "},
		"known, metadata last": {`{"spec":{"nodeName":"n"},"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}`, "u@7", "a@7 on "},
		"another version":      {`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"8"},"spec":{"nodeName":"n"}}`, "u@8", "a@8 on n"},
		"another object":       {`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"v","resourceVersion":"7"},"spec":{"nodeName":"n"}}`, "v@7", "a@7 on n"},
		"of something within":  {`{"metadata":{"name":"a","labels":{"uid":"u","resourceVersion":"7"},"uid":"v","resourceVersion":"9"},"spec":{"nodeName":"n"}}`, "v@9", "a@9 on n"},
	} {
		t.Run(name, func(t *testing.T) {
			cl, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(w, strings.NewReader(event(c.object)))
			})
			w, err := client.For[*corev1.Pod](cl).Watch(ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			var asked []string
			w.SkipKnown(func(uid types.UID, revision string) bool {
				asked = append(asked, fmt.Sprintf("%s@%s", uid, revision))
				return uid == "u" && revision == "7"
			})
			ev, err := w.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got := ev.Object.Name + "@" + ev.Object.ResourceVersion + " on " + ev.Object.Spec.NodeName; got != c.want || ev.Type != "MODIFIED" {
				t.Errorf("%s %s, want %s", ev.Type, got, c.want)
			}
			if want := strings.Fields(c.asked); !slices.Equal(asked, want) {
				t.Errorf("asked about %v, want %v", asked, want)
			}
		})
	}
}
