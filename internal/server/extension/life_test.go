package extension_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/storage/local"
)

// definition is a small definition with the given schema of its spec's properties.
func definition(plural, kind, properties string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.shop.example.com"},
"spec":{"group":"shop.example.com","scope":"Cluster","names":{"plural":%q,"kind":%q},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":%s}}}}}]}}`, plural, plural, kind, properties)
}

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	gadgets     = "/apis/shop.example.com/v1/gadgets"
)

// ask sends a request, checks the code and returns the body.
func (s *serving) ask(t testing.TB, method, path, body string, code int) string {
	t.Helper()
	data, err := s.try(t.Context(), method, path, body, code)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// try is ask for goroutines other than the test's.
func (s *serving) try(ctx context.Context, method, path, body string, code int) (string, error) {
	resp, err := s.send(ctx, method, path, body)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != code {
		return "", fmt.Errorf("%s %s: %d %s %v, want %d", method, path, resp.StatusCode, data, err, code)
	}
	return string(data), nil
}

func (s *serving) open(t testing.TB, method, path, body string) *http.Response {
	t.Helper()
	resp, err := s.send(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (s *serving) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return s.Client().Do(req)
}

// TestServedWhenAnswered checks that the kind is fully served when the write of its definition returns.
func TestServedWhenAnswered(t *testing.T) {
	s := serve(t)
	s.ask(t, "GET", "/apis/shop.example.com", "", 404)
	s.ask(t, "POST", definitions, definition("gadgets", "Gadget", `{"a":{"type":"string"}}`), 201)
	s.ask(t, "POST", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g"},"spec":{"a":"x"}}`, 201)
	for path, want := range map[string]string{
		"/apis/shop.example.com/v1":               `"kind":"Gadget"`,
		"/openapi/v3":                             `apis/shop.example.com/v1`,
		"/openapi/v3/apis/shop.example.com/v1":    `com.example.shop.v1.Gadget`,
		"/openapi/v2":                             `com.example.shop.v1.GadgetList`,
		definitions + "/gadgets.shop.example.com": `"type":"Established"`,
	} {
		if body := s.ask(t, "GET", path, "", 200); !strings.Contains(body, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
}

// TestNewDefaults checks that a default added to a definition shows on existing objects in reads, lists and
// watches, without a write and also after a restart.
func TestNewDefaults(t *testing.T) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := serveFrom(t, store)
	s.ask(t, "POST", definitions, definition("gadgets", "Gadget", `{"a":{"type":"string"},"b":{"type":"string"}}`), 201)
	var made struct {
		Metadata struct{ ResourceVersion string }
	}
	json.Unmarshal([]byte(s.ask(t, "POST", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"old"},"spec":{"a":"x","b":"y"}}`, 201)), &made)
	changed := definition("gadgets", "Gadget", `{"a":{"type":"string"},"c":{"type":"integer","default":7}}`)
	s.ask(t, "PATCH", definitions+"/gadgets.shop.example.com", changed, 200)
	for range 2 {
		want := `"spec":{"a":"x","c":7}`
		if body := s.ask(t, "GET", gadgets+"/old", "", 200); !strings.Contains(body, want) || !strings.Contains(body, `"resourceVersion":"`+made.Metadata.ResourceVersion+`"`) {
			t.Error(body)
		}
		if body := s.ask(t, "GET", gadgets, "", 200); !strings.Contains(body, want) {
			t.Error(body)
		}
		w := s.open(t, "GET", gadgets+"?watch=1", "")
		line, err := bufio.NewReader(w.Body).ReadString('\n')
		w.Body.Close()
		if err != nil || !strings.HasPrefix(line, `{"type":"ADDED"`) || !strings.Contains(line, want) {
			t.Error(line, err)
		}
		s.stop()
		s = serveFrom(t, store)
	}
	s.ask(t, "POST", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"new"},"spec":{"b":"y"}}`, 201)
	if body := s.ask(t, "GET", gadgets+"/new", "", 200); !strings.Contains(body, `"spec":{"c":7}`) {
		t.Error(body)
	}
}

// TestWatchEndsWithItsKind checks that a watch reports the deletion of its objects before it ends.
func TestWatchEndsWithItsKind(t *testing.T) {
	s := serve(t)
	s.ask(t, "POST", definitions, definition("gadgets", "Gadget", `{}`), 201)
	s.ask(t, "POST", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g"}}`, 201)
	w := s.open(t, "GET", gadgets+"?watch=1", "")
	defer w.Body.Close()
	s.ask(t, "DELETE", definitions+"/gadgets.shop.example.com", "", 200)
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], `{"type":"ADDED"`) || !strings.HasPrefix(lines[1], `{"type":"DELETED"`) {
		t.Errorf("the watch said\n%s", body)
	}
	if body := s.ask(t, "GET", "/apis", "", 200); strings.Contains(body, "shop.example.com") {
		t.Error("the group is still listed")
	}
}
