// Package kwok reads the answers and stages of simulated pods, in kwok's
// YAML: the kinds Logs, Exec, Attach, PortForward and ResourceUsage of
// kwok.x-k8s.io/v1alpha1, their Cluster forms, Metric, whose expressions the package expr explains, and
// Stage, which the package stage explains.
//
//	defs, err := kwok.Load("nodes.yaml")
//	entry, ok := defs.Logs(pod, "nginx")
//
// A Logs of a pod's own namespace and name is for that pod; a ClusterLogs is for all pods
// that its selector takes, in all namespaces and with all names that it does not restrict.
// The pod's own comes first, then Cluster forms by name. Within one, the first entry that
// has the container, or no containers at all, is the one.
//
// Beside kwok's members there are some that need no files and no programs: content of a log,
// the output and the exit code of a command, the response of a port. They are Fairlead's own.
//
// The kinds may be objects of a server as well: Kinds has their CustomResourceDefinitions, Put
// and Remove take objects in.
//
// # Concurrency
//
// Definitions may be shared. Returned entries never change; Put and Remove, from any goroutine,
// make a new set, which later calls see.
package kwok
