// Package connections keeps a server reachable when clients open more connections than it has room for.
//
// Patient goes on accepting after a lack of file descriptors. A Limit bounds the open connections, so that the process keeps
// descriptors for its store and for its own connections: beyond it, a new connection takes the place of one of a client that has
// not authenticated, such as one that is idle or in its handshake, or is closed at once if all clients have.
//
// # Concurrency properties
//
// All functions and methods may be called from any goroutine. A connection takes the Limit's lock when it is accepted and when it
// is closed, and not for its requests.
package connections
