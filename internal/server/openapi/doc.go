// Package openapi describes what the server serves, as OpenAPI v2 and v3.
//
// Nothing is written by hand and nothing is generated per kind: a document is
// made of the resource table and of the API's Go types, by reflection. Their
// json tags give the properties, SwaggerDoc the descriptions, OpenAPIModelName
// the names of the definitions, patchStrategy and patchMergeKey tags what
// kubectl apply needs; what only doc comments know (how lists merge, defaults,
// enum values) is in facts.txt, which internal/gen extracts.
//
// A document is built when it is first asked for, and then only its encoded and
// compressed bytes are kept. The index at /openapi/v3 needs none of them: a
// document's hash is that of what it is made from.
//
// What other servers say, whose versions this one passes on, is listed beside it in v3 and
// merged in v2, as kube-aggregator does; only then is the document of v2 decoded.
//
// # Concurrency
//
// A Handler may be used from any goroutine. A document that several ask for at
// once is built once.
package openapi

//go:generate go run ./internal/gen facts.txt
