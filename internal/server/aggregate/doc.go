// Package aggregate keeps the API services: one for each version of a group that the
// server serves itself, and those that users register for other servers.
//
// Those of what is built in are among the objects that a cluster starts with. They are
// set right when the server starts, and those of a version that is not built in any more
// are removed then; what users do to them afterwards is theirs to do: a version whose API
// service they delete is served, and not listed among the groups. Those of what
// definitions define come and go with it, and what users change of them is changed
// back. Without the label kube-aggregator.kubernetes.io/automanaged an API service is
// left alone.
//
// # Other servers
//
// An API service with a service leads requests to its version elsewhere, in place of what
// is served here in that version: to a ready endpoint of the service or to its external
// name, by TLS, to be known as SERVICE.NAMESPACE.svc. The server is shown a certificate of
// the front proxy, and told by headers for whom the request is. Which certificates to
// believe it reads in a ConfigMap, which is kept here.
//
// Whether it is available, its API service says, as of the last check: of the service, its
// endpoints, and of a document that each server must have. It is checked when the service
// or its endpoints change, half a minute after a check, and soon after one that it did not
// answer. While it is not available, requests are told 503, and discovery shows what it
// had as stale.
//
// What it says of itself in OpenAPI is asked for when it becomes available, before that is
// said, and then every minute: its list of documents of v3, which stay where they are, and
// its document of v2, which is merged into this server's when somebody wants that.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine.
//  2. [Services.Run] is one goroutine, which waits for events of API services and for
//     other custom kinds to be served, and two for each other server, of which one checks
//     it and one reads what it says of itself.
//  3. A write of an API service has taken effect when it is answered; that it is
//     available has when it is in the watch cache.
package aggregate
