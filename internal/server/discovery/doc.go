// Package discovery tells clients what the server serves: which groups, in
// which versions, with which resources, verbs and subresources.
//
// Both forms are served at /api and /apis: the aggregated one (all of it in two
// documents, with an ETag) to clients that ask for
//
//	application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList
//
// as kubectl and client-go do, and the older one, a document per group and
// version, to everybody else. Each is available as JSON and as Kubernetes'
// protobuf, the older ones as YAML too. A document is built when it is first asked for; then its bytes are
// kept until the next Set.
//
// # Concurrency
//
// A Handler may be used from any goroutine. A request that began before a Set
// may still be answered with what was.
package discovery
