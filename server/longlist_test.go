package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// TestLongLists checks that the connection writes the same bytes of a list as a handler.
func TestLongLists(t *testing.T) {
	c := start(t)
	rt := server.Transport(c.server, &auth.User{Name: "reader"})
	for i := range 150 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%03d","labels":{"odd":"%d"}},"data":{"k":"%s"}}`, i, i%2, strings.Repeat("v", i*10)))
	}
	for _, accept := range []string{
		"application/json", "application/vnd.kubernetes.protobuf",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
	} {
		for _, query := range []string{"", "?limit=120", "?labelSelector=odd%3D1", "?labelSelector=odd%3D2"} {
			wired := c.do("GET "+maps+query, "", "Accept: "+accept)
			req, _ := http.NewRequest("GET", "http://memory"+maps+query, nil)
			req.Header.Set("Accept", accept)
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			inside, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if wired.code != 200 || err != nil || wired.body != string(inside) {
				t.Errorf("%s %s: %d, %d bytes by the wire, %d inside, %v", accept, query, wired.code, len(wired.body), len(inside), err)
			}
		}
	}
}

// TestListCountsUntilItsEnd checks that a list that the connection writes counts as in flight
// until the client has it or has closed.
func TestListCountsUntilItsEnd(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.MaxReads = 1 })
	big := strings.Repeat("v", 500_000)
	for i := range 20 { // more than windows and sockets hold
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%03d"},"data":{"k":"%s"}}`, i, big))
	}
	resp, err := c.client.Get(c.base + maps)
	if err != nil {
		t.Fatal(err)
	}
	if a := c.do("GET "+maps+"/m000", ""); a.code != 429 {
		t.Errorf("a second read: %d", a.code)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil || n < 10_000_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
	for c.do("GET "+maps+"/m000", "").code != 200 { // until the server has noticed
		if t.Context().Err() != nil {
			t.Fatal("the list's place was never given back")
		}
	}
}
