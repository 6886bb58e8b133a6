// Package testing starts API servers for tests.
package testing

import (
	"fmt"
	"time"

	restclient "k8s.io/client-go/rest"
	"k8s.io/kubernetes/test/integration/fairlead"
)

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServerInstanceOptions has the options of a test for its server.
type TestServerInstanceOptions struct {
	DisableInvariantChecks bool
	EnableCertAuth         bool
	SkipHealthzCheck       bool
	BinaryVersion          string
	RequestTimeout         time.Duration
}

// TestServer is a running server.
type TestServer struct {
	ClientConfig *restclient.Config
	TearDownFn   TearDownFunc
}

// NewDefaultTestServerOptions returns the usual options.
func NewDefaultTestServerOptions() *TestServerInstanceOptions { return &TestServerInstanceOptions{} }

// StartTestServer runs an API server with these flags of kube-apiserver, until its TearDownFn is called.
func StartTestServer(t fairlead.TB, options *TestServerInstanceOptions, flags []string, _ any) (server TestServer, err error) {
	if options != nil && options.BinaryVersion != "" {
		return server, fmt.Errorf("a server of the version %s", options.BinaryVersion)
	}
	config, stop := fairlead.Server(t, flags...)
	return TestServer{ClientConfig: config, TearDownFn: stop}, nil
}

// StartTestServerOrDie is StartTestServer for tests that end if it fails.
func StartTestServerOrDie(t fairlead.TB, options *TestServerInstanceOptions, flags []string, storage any) *TestServer {
	server, err := StartTestServer(t, options, flags, storage)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &server
}
