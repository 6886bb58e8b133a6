// Package aggregate manages API services: one for each version of a group that the server serves itself, and those
// that users register for other servers.
//
// API services of built-in versions are among the objects that a new cluster has. They are restored when the server
// starts, and those of versions no longer built in are removed then; later changes by users stand. A version whose
// API service was deleted is still served, but not listed among the groups. API services of definitions are created
// and deleted with them, and changes by users are reverted. An API service without the label
// kube-aggregator.kubernetes.io/automanaged is left alone.
//
// # Other servers
//
// An API service with a service routes requests for its version to another server, even if the version is also
// served locally: to a ready endpoint of the service or to its external name, by TLS, verified as
// SERVICE.NAMESPACE.svc. The server authenticates with the front proxy's client certificate and passes the user in
// headers. The other server reads which certificates to trust from a ConfigMap, which this package maintains.
//
// The API service's Available condition is the result of the last check of the service, its endpoints, and a
// document that every server must have. A check runs when the service or its endpoints change, half a minute after
// the previous check, and soon after a check without a response. While the server is unavailable, requests get 503,
// and discovery shows its last known resources as stale.
//
// Its OpenAPI documents are read when it becomes available, before the condition is written, and then every minute:
// the index of v3, whose documents stay on that server, and the v2 document, which is merged into this server's
// when a client asks for that.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine.
//  2. [Services.Run] is one goroutine, which waits for events of API services and for
//     changes of the custom kinds, and two for each other server: one checks it, and one
//     reads its OpenAPI documents.
//  3. A write of an API service has taken effect when it returns. A change of its
//     availability has taken effect when it is in the watch cache.
package aggregate
