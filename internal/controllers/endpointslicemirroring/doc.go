//lint:file-ignore SA1019 Endpoints are deprecated, and served

// Package endpointslicemirroring copies user-managed Endpoints, those of a Service without a selector, into
// EndpointSlices for consumers that read only slices. There is one slice for each address family and set of ports,
// with up to 1,000 endpoints; surplus and invalid addresses are reported by an event on the Endpoints.
//
// Endpoints with the label endpointslice.kubernetes.io/skip-mirror=true, those used for leader election, and those
// without a Service are not mirrored; their mirrors are deleted. A mirror has an owner reference to its Endpoints,
// and their labels and annotations.
//
// Passes over one name never overlap, and one begins only when the cache has all writes of the last one.
package endpointslicemirroring
