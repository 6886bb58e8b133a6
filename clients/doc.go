// Package clients tests that Kubernetes clients work unchanged with a Fairlead server:
// kubectl, by its own code; Helm, through its SDK; client-go's typed, dynamic, metadata, scale
// and discovery clients; and controller-runtime's client. It is a module of its own, since
// they bring hundreds of packages with them.
//
// # kubectl
//
// The files in testdata/kubectl are transcripts: kubectl's commands and their output. They
// were recorded with kube-apiserver 1.37.2 and Fairlead's controllers, scheduler and three
// nodes. go test runs them against a control plane of ours. Where its output differs, the
// transcript has both. To run them against another control plane:
//
//	CLIENTS_KUBECONFIG=... go test -run TestKubectl .
//
// With CLIENTS_REWRITE=1 the new output is written to the files. transcript_test.go documents
// their format.
//
// # Extension servers
//
// cmd/sample-apiserver is upstream's example of an aggregated API server. TestExtension runs
// it in its own process, with a store of ours as its etcd, and runs the transcripts in
// testdata/extension, which were recorded with kube-apiserver.
//
// # Client libraries
//
// testdata/kinds.yaml has an object of every kind that can be written. The tests use every
// method of each client on it, and check the results, on a server without other writers:
// ours, or that of CLIENTS_QUIET_KUBECONFIG. They have passed on kube-apiserver 1.36.3.
package clients
