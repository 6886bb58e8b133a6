package server_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"k8s.io/kubectl/pkg/proxy"
)

// TestTutorial is the experiment that tutorials print: kubectl proxy, a list
// with curl, and a watch from the list's revision, which shows exactly what
// comes after it.
func TestTutorial(t *testing.T) {
	c := start(t)
	c.must("POST "+pods, fmt.Sprintf(podNamed, "before"))

	p, err := proxy.NewServer("", "/", "/static/", nil, c.config(), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go p.ServeOnListener(l)

	curl := *c
	curl.http, curl.client = nil, http.DefaultClient
	curl.base = "http://" + l.Addr().String()
	list := curl.must("GET "+pods, "", "User-Agent: curl/8.9.1")
	rev := list.text("metadata.resourceVersion")

	c.must("POST "+pods, fmt.Sprintf(podNamed, "between"))
	w := curl.watch(t, http.DefaultTransport, pods+"?watch=1&resourceVersion="+rev, "User-Agent: curl/8.9.1")
	if got := w.resp.TransferEncoding; len(got) != 1 || got[0] != "chunked" {
		t.Errorf("transfer encoding %v", got)
	}
	w.expect("ADDED between 3")
	c.must("POST "+pods, fmt.Sprintf(podNamed, "later"))
	w.expect("ADDED later 4")
	c.must("PATCH "+pods+"/before application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`)
	w.expect("MODIFIED before 5")
	c.must("DELETE "+pods+"/between?gracePeriodSeconds=0", "")
	w.expect("MODIFIED between 6")
	w.expect("DELETED between 7")
}

const podNamed = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"i"}]}}`
