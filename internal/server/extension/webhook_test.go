package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// hook is a webhook in memory whose response each test sets.
type hook struct {
	answer atomic.Pointer[func(uid, to string, objects []map[string]any) string]
	asked  atomic.Int64
}

func (h *hook) Post(_ context.Context, _ *admissionv1.WebhookClientConfig, body []byte) ([]byte, error) {
	h.asked.Add(1)
	var review struct {
		Request struct {
			UID               string
			DesiredAPIVersion string
			Objects           []map[string]any
		}
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	f := h.answer.Load()
	if f == nil {
		return nil, fmt.Errorf("nobody is there")
	}
	return []byte((*f)(review.Request.UID, review.Request.DesiredAPIVersion, review.Request.Objects)), nil
}

func (h *hook) set(f func(uid, to string, objects []map[string]any) string) { h.answer.Store(&f) }

// honest renames spec.size to spec.length and back.
func honest(uid, to string, objects []map[string]any) string {
	for _, o := range objects {
		spec, _ := o["spec"].(map[string]any)
		from, into := "size", "length"
		if strings.HasSuffix(to, "/v1") {
			from, into = into, from
		}
		if v, ok := spec[from]; ok {
			delete(spec, from)
			spec[into] = v
		}
		o["apiVersion"] = to
	}
	text, _ := json.Marshal(objects)
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":%s}}`, uid, text)
}

const converted = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.shop.example.com"},
"spec":{"group":"shop.example.com","scope":"Cluster","names":{"plural":"gadgets","kind":"Gadget"},
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/x"}}},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"length":{"type":"integer"}}}}}}}]}}`

func TestConversionWebhook(t *testing.T) {
	h := &hook{}
	h.set(honest)
	s := serve(t, h)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, converted, 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`, 201)
	if n := h.asked.Load(); n != 0 {
		t.Errorf("asked %d times for what is stored as it came", n)
	}
	for range 3 {
		if body := s.ask(t, "GET", v2+"/a", "", 200); !strings.Contains(body, `"apiVersion":"shop.example.com/v2"`) || !strings.Contains(body, `"spec":{"length":3}`) {
			t.Error(body)
		}
	}
	if n := h.asked.Load(); n != 1 {
		t.Errorf("asked %d times for one state of one object", n)
	}
	s.ask(t, "POST", v2, `{"apiVersion":"shop.example.com/v2","kind":"Gadget","metadata":{"name":"b"},"spec":{"length":5}}`, 201)
	if body := s.ask(t, "GET", v1+"/b", "", 200); !strings.Contains(body, `"spec":{"size":5}`) {
		t.Error(body)
	}
	if body := s.ask(t, "PATCH", v2+"/b", `{"spec":{"length":6}}`, 200); !strings.Contains(body, `"generation":2`) || !strings.Contains(body, `"spec":{"length":6}`) {
		t.Error(body)
	}
}

// TestLyingWebhook checks that an invalid conversion fails the request and is not cached.
func TestLyingWebhook(t *testing.T) {
	h := &hook{}
	h.set(honest)
	s := serve(t, h)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, converted, 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`, 201)
	lie := func(change func(o map[string]any)) func(string, string, []map[string]any) string {
		return func(uid, to string, objects []map[string]any) string {
			for _, o := range objects {
				o["apiVersion"] = to
				change(o)
			}
			return honest(uid, objects[0]["apiVersion"].(string), objects)
		}
	}
	meta := func(name string, value any) func(map[string]any) {
		return func(o map[string]any) { o["metadata"].(map[string]any)[name] = value }
	}
	const of = "conversion webhook for shop.example.com/v1, Kind=Gadget "
	for want, answer := range map[string]func(string, string, []map[string]any) string{
		"returned invalid object: must have the same name: a != z":                      lie(meta("name", "z")),
		"returned invalid object: must have the same UID":                               lie(meta("uid", "z")),
		"returned invalid object: must have the same namespace":                         lie(meta("namespace", "z")),
		"returned invalid metadata: metadata.labels[a] must be a string":                lie(meta("labels", map[string]any{"a": 1})),
		"returned invalid metadata: metadata.labels: Invalid value":                     lie(meta("labels", map[string]any{"a": "-"})),
		"returned invalid object at index 0: invalid kind (expected Gadget, received X": lie(func(o map[string]any) { o["kind"] = "X" }),
		"returned invalid object at index 0: invalid groupVersion":                      lie(func(o map[string]any) { o["apiVersion"] = "shop.example.com/v3" }),
		"returned 0 objects, expected 1":                                                func(uid, to string, _ []map[string]any) string { return honest(uid, to, []map[string]any{}) },
		"failed: expected response.uid=":                                                func(_, to string, o []map[string]any) string { return honest("other", to, o) },
		"failed: out of order": func(uid, _ string, _ []map[string]any) string {
			return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Failure","message":"out of order"}}}`, uid)
		},
		"failed: expected webhook response of": func(string, string, []map[string]any) string { return `{"kind":"Pod","apiVersion":"v1"}` },
		"failed: no response provided": func(string, string, []map[string]any) string {
			return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`
		},
	} {
		h.set(answer)
		var status struct{ Message string }
		json.Unmarshal([]byte(s.ask(t, "GET", v2+"/a", "", 500)), &status)
		if !strings.HasPrefix(status.Message, of+want) {
			t.Errorf("got  %s\nwant %s", status.Message, of+want)
		}
	}
	h.set(honest)
	s.ask(t, "GET", v2+"/a", "", 200)
	h.answer.Store(nil)
	s.ask(t, "GET", v1+"/a", "", 200)
	s.ask(t, "POST", v2, `{"apiVersion":"shop.example.com/v2","kind":"Gadget","metadata":{"name":"b"},"spec":{"length":5}}`, 500)
	s.ask(t, "GET", v1+"/b", "", 404)
}
