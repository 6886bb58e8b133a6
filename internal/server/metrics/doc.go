// Package metrics has the collectors of the API server, under the names that dashboards of
// kube-apiserver know: requests by route, watches, admission, health checks, the contents of
// the watch caches, and the time that events took from hop to hop.
package metrics
