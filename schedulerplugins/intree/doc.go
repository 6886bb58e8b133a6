// Package intree runs kube-scheduler's own plugins in this scheduler, as a test of fairlead.dev/schedulerplugins. It is a
// module of its own because they import k8s.io/kubernetes.
package intree
