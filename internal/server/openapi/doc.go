// Package openapi describes the served API as OpenAPI v2 and v3.
//
// Documents are neither written by hand nor generated per kind: each is built by reflection from the resource table
// and the API's Go types. Their json tags give the properties, SwaggerDoc the descriptions, OpenAPIModelName the
// names of the definitions, patchStrategy and patchMergeKey tags the markers for kubectl apply. Facts that only doc
// comments have (how lists merge, defaults, enum values) are in facts.txt, which internal/gen extracts.
//
// A document is built on its first request; then only its encoded and compressed bytes are kept. The index at
// /openapi/v3 needs no document: a document's hash is the hash of its inputs.
//
// Documents of aggregated API servers are listed in the v3 index and merged into the v2 document, as
// kube-aggregator does; only then is the v2 document decoded.
//
// # Concurrency
//
// A Handler may be used from any goroutine. Concurrent requests for a document build it once.
package openapi

//go:generate go run ./internal/gen facts.txt
