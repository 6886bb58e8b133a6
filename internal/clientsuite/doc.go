// Package clientsuite tests the promises of the client library: client, informer and
// controller against an API server, over networks that fail and with credentials that
// change. It has only tests.
//
//	go test ./internal/clientsuite
//	go test ./internal/clientsuite -kubeconfig FILE [-etcd URL] [-restart URL]
//
// Without flags the server is this project's own, in the test's process. With a kubeconfig
// it is any other. etcd is then that server's store, whose history the tests compact; a
// POST to the URL of restart kills the server, starts it again and returns when it is
// ready. `make compat` runs the same tests against upstream's kube-apiserver this way.
//
// No built-in controller, scheduler or node runs beside the server.
package clientsuite
