// Package suites runs the own test suites of projects that use envtest, from their Go modules and unchanged, on the
// programs of `fairlead assets`; and on those of the folder $ENVTEST_ASSETS, a kube-apiserver and an etcd, if it is set.
// It prints a table of the results and the wall times. It is built on demand (`make suites`): compiling the projects
// takes most of an hour on two cores.
package suites
