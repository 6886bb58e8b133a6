// Package badnet breaks the network between a client and a server in a test: a TCP proxy whose Conditions can be
// changed at any time, for open connections as well as new ones.
//
//	p, err := badnet.New(server.Addr())
//	defer p.Close()
//	config.Host = p.Addr()
//	p.Set(badnet.Conditions{Silent: true}) // packets are lost, without an error
//	p.Set(badnet.Conditions{})             // healed: held bytes flow on
//	p.Reset()                              // every connection ends by a TCP reset
//	p.Freeze()                             // every connection is dead, without an error
//
// It works below TLS and HTTP and does not inspect the bytes.
//
// # Concurrency
//
//  1. Every method may be called from any goroutine.
//  2. Each connection has one goroutine for each direction; Close ends them all and
//     returns when they have ended.
//  3. Set takes effect at once: it also ends the waits caused by earlier Conditions.
package badnet
