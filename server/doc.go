// Package server is the HTTP API server: an http.Handler that speaks the Kubernetes API over
// one store.
//
// This package assembles and routes; the verbs are in packages below internal/server. A verb is
// a function of a call.Call that answers it or returns an error, which becomes a metav1.Status
// in the media type that the client accepts.
//
// # The packages below internal/server
//
//	request      the parsed request: path, format, options, body
//	endpoint     a resource in one version, typed or untyped, and the table of them in effect
//	serializer   JSON, YAML, protobuf and CBOR
//	represent    objects as a client has negotiated them: bodies, lists, tables
//	call         a request to a resource and its response
//	read         get, list, watch
//	write        create, update, patch, apply, scale, delete, deletecollection, internal writes
//	subresource  binding, eviction, reviews
//	connect      logs, exec, attach, port forwarding, proxies
//	watch        open watches
//	writetrace   decorators that enter writes into the trace
//	inject       decorators that apply injected faults
//	health       health checks and z-pages
//	respond      the ResponseWriter with its deadline
//	fairness     seats for requests, by FlowSchemas and priority levels
//	inflight     bounds on requests and their bodies
//	pressure     refuses large work when memory is short
//	apistatus    errors as clients see them
//	metrics      the server's collectors
//	memory       the wire in memory
//
// # The way of a request
//
//	ServeHTTP            panics caught, audit ID, counted and timed   chain.go
//	request.ParseInfo    the RequestInfo of the path
//	authenticate, authorize                                            access.go
//	route                the endpoint and the verb                     route.go
//	verb                 reads from a watch cache or writes to the store
//
// # The way of a write
//
// The body is decoded into the Go type of the version it names, converted to the storage
// version, defaulted, admitted, prepared and validated, and then encoded once, without its
// resourceVersion. The store takes the bytes on the condition that the key is still at the
// revision that was read. The revision of the commit is spliced into the same bytes for the
// response. An update reads the object from the watch cache; if that was behind, the commit's
// condition fails and the update is done again on the present state.
//
// # Reads
//
// GET, LIST and WATCH in JSON of the storage version copy stored bytes without decoding them.
// Other media types, versions, tables and partial metadata are made from the object once and
// kept with it where the cache keeps them.
//
// # Concurrency
//
//  1. A [Server] may be used from any goroutine as soon as New has returned; reads make their
//     own progress even before Run.
//  2. A request runs on the goroutine that called ServeHTTP and starts no other; only a watch
//     through a WebSocket has a second one, which waits for the client to go. A watch on a
//     connection of package h2 has none once it has begun: the handler returns, and the
//     connection asks the stream for its frames.
//  3. Run drives the watch caches, drops watchers that do not read (one goroutine for all of
//     them), and returns when its context has ended and with it every watch.
//  4. [Transport] runs streaming requests on one goroutine each; it ends when the response body
//     is closed or the request's context is.
package server
