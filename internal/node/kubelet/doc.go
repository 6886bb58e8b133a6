// Package kubelet serves the API of kubelets for simulated pods: logs, commands, attached
// terminals, forwarded ports and metrics, at the paths and in the protocols that an API server uses.
//
//	h := kubelet.New(kubelet.Options{Pods: nodes, Definitions: defs})
//	err := h.Serve(listener) // TLS, with a certificate of its own
//
// One Server stands for the kubelets of many nodes: a pod is found by its namespace and
// name, which of the nodes was asked makes no difference but for /pods and /metrics/resource. Clients are not authenticated:
// the API server has done so, and the content is invented.
//
// # Answers without definitions
//
// The interpreter of package shell runs commands, and predicts the output of a container's own command,
// which is its log. If it does not understand that command, a log has a line for each start of the
// container and one for its end. A client that attaches sees the log go on, and a container with stdin echoes its
// input. A port speaks HTTP and names the pod. See the package kwok for how to define more.
//
// Files that commands have written are kept by container, up to 64 KiB for each, until another container runs its
// first command after this one has ended.
//
// # Metrics
//
// /metrics/resource, /metrics/cadvisor and /stats/summary have the usage of containers, /metrics/probes the results of their probes,
// /metrics a kubelet's own counters and /configz its configuration, all under upstream's names and as far as they are simulated. Each is at /metrics/nodes/{nodeName}/... as
// well, for any node. Definitions of the kind Metric are served at their own paths.
//
// # Concurrency
//
// A Server may be used from any goroutine. Each request is one, and those of a terminal or
// of forwarded connections have more, all of which end with the connection.
package kubelet
