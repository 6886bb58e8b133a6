// Package endpoint has the resources that are served: an [Endpoint] is a resource in one version, with its
// watch cache, and a [Table] finds the endpoint that a path leads to.
//
// An endpoint decodes, converts, validates and encodes its objects. It does so in one of two
// ways: a built-in resource has Go types, and a custom resource has objects without. Each way
// is an implementation of one interface, which the endpoint embeds and gets when it is made.
// So verbs use endpoints and never ask of which kind they are. Small differences on the wire
// are named booleans of the endpoint.
//
// Objects are handled in the hub version: the storage version of a built-in resource, and the
// endpoint's own version of a custom resource. See resource.Resource.Hub.
//
// # Concurrency
//
// Tables and endpoints do not change once made, but for Endpoint.Retired, which is atomic. A
// request works with the table that it has loaded.
package endpoint
