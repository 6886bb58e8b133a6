// Package queue holds the pods that wait for a node, as kube-scheduler's scheduling queue
// does.
package queue
