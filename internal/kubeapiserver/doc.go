// Package kubeapiserver is the command line of kube-apiserver over a control plane of this process, for test harnesses
// that start a kube-apiserver and an etcd, such as envtest.
//
// # Flags
//
// Each flag of kube-apiserver 1.37 is in one of three groups:
//
//   - flags with the same effect as in kube-apiserver (flags.go),
//   - flags that cannot change the answer to a request, accepted with a warning (otherflags.go),
//   - flags that could change one, refused by name unless they have their default (otherflags.go).
//
// # Store
//
// The command etcd of package etcdstandin has no store. It tells an API server of this package where its data
// directory is, and the API server keeps the store there; any other etcd in --etcd-servers is used over the network.
//
// # Controllers
//
// Controllers, scheduler and nodes do not run, as in the real process. The environment variables FAIRLEAD_CONTROLLERS,
// a list such as "*" or "deployment,replicaset", and FAIRLEAD_NODES, a number, run them.
package kubeapiserver
