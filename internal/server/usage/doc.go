// Package usage measures nodes and pods by the figures of their kubelets, for metrics.k8s.io, as metrics-server does.
//
// # Scrapes
//
// Every [Period] a Meter reads /metrics/resource from each kubelet, with the server's client certificate. It keeps the last
// two samples of the node and of each container: CPU is a counter, so its usage is the difference of two samples over the
// time between them, which is the window. A container that started shortly before the last sample has a first one at its
// start, of 0. Memory is the working set of the last sample. Times are those that the kubelet gives, by its clock. A node
// thus has metrics one period after it has joined.
//
// A node without metrics is one whose kubelet did not respond to the last scrape within [Timeout], or responded with
// something else. Its pods have no metrics either, nor has a pod of which a container lacks a sample.
//
// # Cost
//
// A Meter scrapes whether or not a client asks, because the first answer would otherwise take a period. A control plane
// without kubelets does not pay for it: the Meter waits for a Node that is not simulated, whose status names its kubelet's port,
// and of which the node lifecycle controller has heard lately. Then kubelets renew their leases more often than it
// scrapes. At most [Concurrent] scrapes run at a time; kubelets that failed the last time come last.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine.
//  2. [Meter.Run] is one goroutine, and up to Concurrent more during a round of scrapes.
//  3. A round of scrapes takes effect at once, when it has ended.
package usage
