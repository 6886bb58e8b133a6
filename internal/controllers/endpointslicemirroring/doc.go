//lint:file-ignore SA1019 Endpoints are deprecated, and served

// Package endpointslicemirroring copies Endpoints that somebody else writes into
// EndpointSlices: those of a Service without a selector, for consumers that read slices
// only. There is one slice for each family of addresses and set of ports that they serve,
// with up to 1,000 endpoints; what is above that, and what is no address, is told in an
// event on the Endpoints.
//
// Not mirrored are Endpoints with the label endpointslice.kubernetes.io/skip-mirror=true,
// those by which a leader is elected, and those without a Service; mirrors of such go. A
// mirror belongs to its Endpoints by owner reference, and bears their labels and
// annotations.
//
// Passes over one name never overlap, and one begins only when the cache shows all that
// the last one wrote.
package endpointslicemirroring
