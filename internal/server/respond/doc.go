// Package respond writes responses: [Writer] lets either the handler or a deadline answer,
// never both, and [StartGzip] compresses a body.
package respond
