// Package memnet connects the parts of a process without sockets: over pipes in memory, which a testing/synctest
// bubble can wait for.
//
// A Listener accepts connections to any address. A Network is a set of listeners, each with an address of its own,
// as those of a loopback interface. Both are safe for concurrent use.
package memnet
