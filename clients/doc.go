// Package clients shows that programs which people use against Kubernetes work against
// a Fairlead server unchanged: kubectl, by its own code, and Helm, through its SDK. It
// is a module of its own, since such programs bring hundreds of packages with
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
package clients
