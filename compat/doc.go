// Package compat holds Fairlead against upstream's own programs. It is a module
// of its own because k8s.io/kubernetes can only be had with a page of replace
// lines, and is built on demand (`make compat`): its first build takes minutes.
//
// Its tests start a real etcd and kube-apiserver, run our controllers, scheduler
// and nodes against them, and say in their log what was seen. TestFourWays plays
// one suite of behaviours with upstream's controllers and scheduler and with ours,
// each on upstream's server and on ours. TestSchedulersAgree asks our scheduler and
// kube-scheduler about the same pods in clusters made at random. $UPSTREAM_BIN names a folder where
// upstream's programs are built already.
package compat
