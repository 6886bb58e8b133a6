package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/server/extension"
)

// poster is a webhook implemented by a function.
type poster func(ctx context.Context, body []byte) ([]byte, error)

func (p poster) Post(ctx context.Context, _ *admissionv1.WebhookClientConfig, body []byte) ([]byte, error) {
	return p(ctx, body)
}

// convertBy asks p to convert n gadgets from v1 to v2.
func convertBy(ctx context.Context, t *testing.T, p poster, n int) ([]*unstructured.Unstructured, error) {
	t.Helper()
	var d apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(converted), &d); err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for i := range n {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "shop.example.com/v1", "kind": "Gadget",
			"metadata": map[string]any{"name": fmt.Sprintf("g%d", i)}, "spec": map[string]any{"size": int64(i)},
		}})
	}
	return extension.Webhooks(p)(&d).Convert(ctx, objects, schema.GroupVersion{Group: "shop.example.com", Version: "v2"})
}

// TestHangingWebhook checks that a webhook that never responds is given up after thirty seconds, or when the
// caller's context ends.
func TestHangingWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begin := time.Now()
		if _, err := convertBy(t.Context(), t, hang, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if _, err := convertBy(ctx, t, hang, 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// TestOneQuestion checks that any number of objects is converted by one call, in order, and that an invalid response fails the conversion.
func TestOneQuestion(t *testing.T) {
	h := &hook{}
	h.set(honest)
	out, err := convertBy(t.Context(), t, func(ctx context.Context, body []byte) ([]byte, error) { return h.Post(ctx, nil, body) }, 100)
	if err != nil || len(out) != 100 || h.asked.Load() != 1 {
		t.Fatalf("%d objects after %d questions: %v", len(out), h.asked.Load(), err)
	}
	for i, u := range out {
		if n, _, _ := unstructured.NestedInt64(u.Object, "spec", "length"); n != int64(i) || u.GetName() != fmt.Sprintf("g%d", i) {
			t.Errorf("%d: %v", i, u.Object)
		}
	}
	for _, garbage := range []string{"", "<html>", `{"response":`, "[]"} {
		out, err := convertBy(t.Context(), t, func(context.Context, []byte) ([]byte, error) { return []byte(garbage), nil }, 2)
		if err == nil || out != nil || !strings.HasPrefix(err.Error(), "conversion webhook for shop.example.com/v1, Kind=Gadget failed: ") {
			t.Errorf("%q: %v %v", garbage, out, err)
		}
	}
}

// TestWatchConverted checks that a watch returns each event in the requested version.
func TestWatchConverted(t *testing.T) {
	h := &hook{}
	h.set(honest)
	s := serve(t, h)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, converted, 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`, 201)
	w := s.open(t, "GET", v2+"?watch=1", "")
	defer w.Body.Close()
	lines := bufio.NewReader(w.Body)
	next := func(kind, want string) {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, `{"type":"`+kind+`"`) || !strings.Contains(line, `"apiVersion":"shop.example.com/v2"`) || !strings.Contains(line, want) {
			t.Fatalf("%s %v, want %s %s", line, err, kind, want)
		}
	}
	next("ADDED", `"spec":{"length":3}`)
	s.ask(t, "PATCH", v1+"/a", `{"spec":{"size":4}}`, 200)
	next("MODIFIED", `"spec":{"length":4}`)
	s.ask(t, "DELETE", v1+"/a", "", 200)
	next("DELETED", `"spec":{"length":4}`)
}
