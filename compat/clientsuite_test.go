package compat

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
)

// TestOurClientsOnUpstreamsServer runs the client library's own suite, which go test runs
// against our server, against upstream's: the same tests, with its etcd to compact and
// its process to kill.
func TestOurClientsOnUpstreamsServer(t *testing.T) {
	u := startUpstream(t)
	orders, done := make(chan chan struct{}), make(chan error, 1)
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		obeyed := make(chan struct{})
		orders <- obeyed
		<-obeyed
	}))
	defer control.Close()
	suite := exec.CommandContext(t.Context(), bin.clientsuite, "-test.v", "-test.timeout=20m",
		"-kubeconfig", u.kubeconfig, "-etcd", u.etcd, "-restart", control.URL)
	suite.Stdout, suite.Stderr = t.Output(), t.Output()
	go func() { done <- suite.Run() }()
	for {
		select {
		case obeyed := <-orders:
			u.restart()
			close(obeyed)
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}
