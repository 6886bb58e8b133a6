package extension_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/server/admission/webhook"
	"fairlead.dev/internal/server/reach"
)

// selfSigned returns a self-signed certificate for 127.0.0.1.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hook"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestBundleRotates checks that each write of the CA bundle decides at once which program may respond: the old one,
// then both, then the new one.
func TestBundleRotates(t *testing.T) {
	before, after := startProgram(t), startProgram(t)
	after.TLS.Certificates = []tls.Certificate{selfSigned(t)}
	caBefore, caAfter := before.ca(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: after.TLS.Certificates[0].Certificate[0]})
	s := serve(t, webhook.NewCaller(reach.New(nil, nil, nil)))
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, before.definition(caBefore), 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":0}}`, 201)
	turn := func(p *program, ca []byte) {
		t.Helper()
		var d struct {
			Spec struct{ Conversion json.RawMessage }
		}
		if err := json.Unmarshal([]byte(p.definition(ca)), &d); err != nil {
			t.Fatal(err)
		}
		s.ask(t, "PATCH", ofGadgets, fmt.Sprintf(`{"spec":{"conversion":%s}}`, d.Spec.Conversion), 200)
	}
	n := 0
	converts := func(code int) {
		t.Helper()
		n++
		s.ask(t, "PATCH", v1+"/a", fmt.Sprintf(`{"spec":{"size":%d}}`, n), 200) // no cached conversion can serve this
		if body := s.ask(t, "GET", v2+"/a", "", code); code == 200 && !strings.Contains(body, fmt.Sprintf(`"length":%d`, n)) {
			t.Error(body)
		}
	}
	converts(200)
	turn(after, caBefore)
	converts(500)
	turn(before, slices.Concat(caBefore, caAfter))
	converts(200)
	turn(after, slices.Concat(caBefore, caAfter))
	converts(200)
	turn(after, caAfter)
	converts(200)
	turn(before, caAfter)
	converts(500)
}

// TestBrokenAnswers checks that an invalid response fails the request like any failed conversion, whatever its
// code, and that the next request calls again.
func TestBrokenAnswers(t *testing.T) {
	p := startProgram(t)
	honestly := p.Config.Handler
	var broken http.HandlerFunc
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if broken == nil {
			honestly.ServeHTTP(w, req)
			return
		}
		broken(w, req)
	})
	s := serve(t, webhook.NewCaller(reach.New(nil, nil, nil)))
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, p.definition(p.ca()), 201)
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":3}}`, 201)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"404": http.NotFound,
		"redirected": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cut short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(`{"apiVersion":"apiextensions.k8s.io/v1",`))
		},
		"empty": func(http.ResponseWriter, *http.Request) {},
	} {
		broken = answer
		for _, path := range []string{v2 + "/a", v2} {
			var status struct{ Message string }
			json.Unmarshal([]byte(s.ask(t, "GET", path, "", 500)), &status)
			if !strings.HasPrefix(status.Message, "conversion webhook for shop.example.com/v1, Kind=Gadget failed: ") {
				t.Errorf("%s: %s", name, status.Message)
			}
		}
		s.ask(t, "GET", v1+"/a", "", 200)
	}
	broken = nil
	s.ask(t, "GET", v2, "", 200)
}

// TestMetadataStays checks that a conversion may change labels and annotations, and no other metadata.
func TestMetadataStays(t *testing.T) {
	h := &hook{}
	h.set(func(uid, to string, objects []map[string]any) string {
		for _, o := range objects {
			m := o["metadata"].(map[string]any)
			m["labels"], m["annotations"] = map[string]any{"l": "new"}, map[string]any{"a": "new"}
			m["resourceVersion"], m["generation"], m["creationTimestamp"] = "1", 99, "2001-01-01T00:00:00Z"
			m["finalizers"], m["ownerReferences"], m["managedFields"] = []any{"x/y"}, []any{map[string]any{"kind": "X"}}, nil
			m["deletionTimestamp"] = "2001-01-01T00:00:00Z"
		}
		return honest(uid, to, objects)
	})
	s := serve(t, h)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, converted, 201)
	type meta = map[string]any
	read := func(path string) (o struct{ Metadata meta }) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.ask(t, "GET", path, "", 200)), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	s.ask(t, "POST", v1, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"a","labels":{"l":"old"},"finalizers":["shop.example.com/f"]},"spec":{"size":3}}`, 201)
	was, is := read(v1+"/a").Metadata, read(v2+"/a").Metadata
	for _, name := range []string{"resourceVersion", "generation", "creationTimestamp", "uid", "name", "finalizers", "ownerReferences", "managedFields", "deletionTimestamp"} {
		if a, b := fmt.Sprint(was[name]), fmt.Sprint(is[name]); a != b {
			t.Errorf("%s is %s, was %s", name, b, a)
		}
	}
	if got := fmt.Sprint(is["labels"], is["annotations"]); got != "map[l:new] map[a:new]" {
		t.Error(got)
	}
}
