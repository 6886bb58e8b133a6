package extension_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead.dev/internal/server/admission/webhook"
	"fairlead.dev/internal/server/reach"
)

// program is a conversion webhook behind real TLS.
type program struct {
	*httptest.Server
	hook
	objects atomic.Int64
	// hang holds each call until its client has gone, which gone reports.
	hang atomic.Bool
	came chan struct{}
	gone chan struct{}
}

func startProgram(t *testing.T) *program {
	p := &program{came: make(chan struct{}, 10), gone: make(chan struct{}, 10)}
	p.set(honest)
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if p.hang.Load() {
			p.came <- struct{}{}
			<-req.Context().Done()
			p.gone <- struct{}{}
			return
		}
		var review struct{ Request struct{ Objects []any } }
		json.Unmarshal(body, &review)
		p.objects.Add(int64(len(review.Request.Objects)))
		answer, err := p.Post(req.Context(), nil, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}))
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // for handshakes that must fail
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// definition is a definition whose webhook is the program, trusted by ca.
func (p *program) definition(ca []byte) string {
	return strings.Replace(converted, `"url":"https://127.0.0.1:1/x"`, fmt.Sprintf(`"url":"%s/convert","caBundle":%q`, p.URL, base64.StdEncoding.EncodeToString(ca)), 1)
}

func (p *program) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
}

// TestListAsksOnce checks that the objects of a list are converted by one call, and only once, and that a failed
// conversion fails the whole list.
func TestListAsksOnce(t *testing.T) {
	p := startProgram(t)
	s := serve(t, webhook.NewCaller(reach.New(nil, nil, nil)))
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, p.definition(p.ca()), 201)
	const n = 50
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s.ask(t, "POST", v1, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g%02d"},"spec":{"size":%d}}`, i, i), 201)
		}
	}
	add(0, n)
	asked := func(what string, questions, objects int64) {
		t.Helper()
		if q, o := p.asked.Swap(0), p.objects.Swap(0); q != questions || o != objects {
			t.Errorf("%s: %d questions about %d objects, want %d about %d", what, q, o, questions, objects)
		}
	}
	list := func(query string, want int) {
		t.Helper()
		all := items(s.ask(t, "GET", v2+query, "", 200))
		if len(all) != want {
			t.Fatalf("%d items, want %d", len(all), want)
		}
		for i, text := range all {
			if !strings.Contains(text, `"apiVersion":"shop.example.com/v2"`) || !strings.Contains(text, fmt.Sprintf(`"name":"g%02d"`, i)) || !strings.Contains(text, fmt.Sprintf(`"spec":{"length":%d}`, i)) || !strings.Contains(text, `"managedFields":[`) {
				t.Fatalf("item %d: %s", i, text)
			}
		}
	}
	asked("what is stored as it came", 0, 0)
	for lie, answer := range map[string]func(string, string, []map[string]any) string{
		"returned 49 objects, expected 50": func(uid, to string, o []map[string]any) string { return honest(uid, to, o[1:]) },
		"must have the same name": func(uid, to string, o []map[string]any) string {
			o[0], o[1] = o[1], o[0]
			return honest(uid, to, o)
		},
		"expected response.uid=": func(_, to string, o []map[string]any) string { return honest("other", to, o) },
	} {
		p.set(answer)
		if body := s.ask(t, "GET", v2, "", 500); !strings.Contains(body, lie) {
			t.Errorf("%s, want %s", body, lie)
		}
	}
	p.set(honest)
	p.asked.Store(0)
	p.objects.Store(0)
	list("?limit=10", 10)
	asked("a page", 1, 10)
	list("", n)
	asked("all, of which a page is kept", 1, n-10)
	list("", n)
	s.ask(t, "GET", v2+"/g03", "", 200)
	asked("again", 0, 0)
	add(n, n+5)
	list("", n+5)
	asked("with five new ones", 1, 5)

	w := s.open(t, "GET", v2+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1", "")
	text, err := io.ReadAll(w.Body)
	w.Body.Close()
	if err != nil || strings.Count(string(text), `{"type":"ADDED","object":{"apiVersion":"shop.example.com/v2"`) != n+5 {
		t.Errorf("%v %.300s", err, text)
	}
	asked("a watch that begins with them", 0, 0)
}

// TestWebhookOverTLS checks that a webhook that the definition does not trust is not called, and that a call ends
// with its request.
func TestWebhookOverTLS(t *testing.T) {
	p, other := startProgram(t), startProgram(t)
	s := serve(t, webhook.NewCaller(reach.New(nil, nil, nil)))
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, p.definition(p.ca()), 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`, 201)
	s.ask(t, "GET", v2+"/a", "", 200)

	p.hang.Store(true)
	s.ask(t, "PATCH", v1+"/a", `{"spec":{"size":4}}`, 200)
	for _, path := range []string{v2 + "/a", v2} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-p.came
			cancel()
		}()
		if body, err := s.try(ctx, "GET", path, "", 200); err == nil {
			t.Errorf("%s: %s", path, body)
		}
		<-p.gone // the call ended with the request
	}
	p.hang.Store(false)
	if body := s.ask(t, "GET", v2+"/a", "", 200); !strings.Contains(body, `"length":4`) {
		t.Error(body)
	}

	p.Close()
	s.ask(t, "PATCH", v1+"/a", `{"spec":{"size":5}}`, 200)
	if body := s.ask(t, "GET", v2+"/a", "", 500); !strings.Contains(body, "conversion webhook for shop.example.com/v1, Kind=Gadget failed: ") {
		t.Error(body)
	}
	var patch map[string]any
	json.Unmarshal([]byte(other.definition([]byte(strangerCA))), &patch)
	spec := patch["spec"].(map[string]any)
	text, _ := json.Marshal(map[string]any{"spec": map[string]any{"conversion": spec["conversion"]}})
	s.ask(t, "PATCH", ofGadgets, string(text), 200)
	if body := s.ask(t, "GET", v2+"/a", "", 500); !strings.Contains(body, "certificate") || other.asked.Load() != 0 {
		t.Error(body)
	}
}

// strangerCA is a certificate whose key is unknown.
const strangerCA = `-----BEGIN CERTIFICATE-----
MIIBfTCCASOgAwIBAgIUaOwTTEKGGYPlBxUJlZCfTz5mBdcwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIc3RyYW5nZXIwIBcNMjYxMTIxMDkxNjM0WhgPMjEyNjEwMjgw
OTE2MzRaMBMxETAPBgNVBAMMCHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEa07fgZTtHZLqrqM4z2QZAUVL5HCtiyJXtyCqpmL8fswQJ/+7CSqYga5S
tvSl00NKSS7mJj/0qI8sFCwr7Axx9aNTMFEwHQYDVR0OBBYEFO+bARMRZpKwcBJM
fKXmOSQig0HAMB8GA1UdIwQYMBaAFO+bARMRZpKwcBJMfKXmOSQig0HAMA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAKyim7Uv7IqUc9Sw7+8E6kIW
KKrAe4DFhuEjVrIVB0B+AiAjlVL0nUgF8hxWBoUJhzPmhBH8r3/udBMnaU3p6kJ4
6A==
-----END CERTIFICATE-----`
