// Package clientsuite holds the client library to its promises: client, informer and
// controller against an API server, over networks that fail and with credentials that
// change. It has nothing but tests.
//
//	go test ./internal/clientsuite
//	go test ./internal/clientsuite -kubeconfig FILE [-etcd URL] [-restart URL]
//
// Without flags the server is this project's own, in the test's process. With a
// kubeconfig it is any other; etcd is then what it keeps everything in, whose history the
// tests compact, and a POST to the URL of restart kills the server, starts it again and
// returns when it is ready. `make compat` runs the same tests against upstream's
// kube-apiserver so.
//
// None of the built-in controllers, no scheduler and no node runs beside the server.
package clientsuite
