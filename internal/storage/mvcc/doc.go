// Package mvcc holds the keys of an embedded store in memory, with their history. A key is a chain
// of versions, the newest first, and every version is also an event of the log. The drawing is in
// package storage/local.
//
// # Concurrency
//
// The package has no lock and no goroutine. A Log is immutable. An Entry and a Version may be read
// by any goroutine while one goroutine adds to the head of the chain, one cuts its tail, and one
// packs values. A Tree belongs to its writer, which copies it for readers.
package mvcc
