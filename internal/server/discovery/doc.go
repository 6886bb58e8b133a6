// Package discovery serves API discovery: the groups, their versions, and the resources with their verbs and
// subresources.
//
// Both forms are served at /api and /apis: the aggregated one (two documents in all, with an ETag) to clients that
// accept
//
//	application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
//
// as kubectl and client-go do, and the unaggregated one, a document per group and version, to all others. Both are
// available as JSON and as Kubernetes' protobuf, the unaggregated one as YAML too. A document is built on its first
// request; its bytes are kept until the next Set.
//
// # Concurrency
//
// A Handler may be used from any goroutine. A request that began before a Set may still get the previous state.
package discovery
