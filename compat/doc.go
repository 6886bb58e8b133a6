// Package compat tests Fairlead against upstream's own programs. It is a module of its own
// because k8s.io/kubernetes needs a page of replace lines, and is built on demand (`make
// compat`): its first build takes minutes.
//
// Its tests start a real etcd and kube-apiserver, run our controllers, scheduler and nodes
// against them, and log the results. TestFourWays runs one suite of behaviours with
// upstream's controllers and scheduler and with ours, each on upstream's server and on
// ours. TestSchedulersAgree compares the placements of our scheduler and kube-scheduler for
// the same pods in random clusters. $UPSTREAM_BIN names a folder with upstream's programs,
// if they are built already.
package compat
