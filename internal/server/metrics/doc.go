// Package metrics has the collectors of the API server, under the names that dashboards of
// kube-apiserver know: requests by route, watches, admission, health checks, what the watch
// caches hold, and how long events took from hop to hop.
package metrics
