// Package clients shows that programs which people use against Kubernetes work against
// a Fairlead server unchanged: kubectl, by its own code, and Helm, through its SDK; and
// the client libraries that programs are written with: client-go's typed, dynamic,
// metadata, scale and discovery clients, and controller-runtime's. It is a module of its own, since such programs bring hundreds of packages with
// them.
//
// # kubectl
//
// The files in testdata/kubectl are transcripts: kubectl's commands and what they
// print. They were recorded with kube-apiserver 1.36.3, Fairlead's controllers,
// scheduler and three nodes beside it, and are run by go test against a control plane of ours.
// Where that prints something else, both stand there. Any other control plane is
// asked the same by
//
//	CLIENTS_KUBECONFIG=... go test -run TestKubectl .
//
// and CLIENTS_REWRITE=1 puts what it prints into the files. transcript_test.go says how they
// are written.
//
// # Extension servers
//
// cmd/sample-apiserver is upstream's example of a server behind an API server. TestExtension
// runs it as a process of its own, with a store of ours as its etcd, and the files in
// testdata/extension, which were recorded with kube-apiserver in the same place.
//
// # Client libraries
//
// testdata/kinds.yaml has an object of every kind that can be written. Each is taken through
// all that a client can do with it, with what must come of it said in the test, on a
// server where nobody else writes: ours, or the one that CLIENTS_QUIET_KUBECONFIG points at. They
// have passed on kube-apiserver 1.36.3.
package clients
