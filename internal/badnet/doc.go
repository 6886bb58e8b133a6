// Package badnet breaks the network between a client and a server in a test: a TCP
// proxy whose Conditions can be changed at any time, for the connections there are as
// well as for those to come.
//
//	p, err := badnet.New(server.Addr())
//	defer p.Close()
//	config.Host = p.Addr()
//	p.Set(badnet.Conditions{Silent: true}) // nobody is told, nothing arrives
//	p.Set(badnet.Conditions{})             // healed: what was held flows on
//	p.Reset()                              // every connection ends by a TCP reset
//	p.Freeze()                             // every connection is dead, and nobody is told
//
// It works below TLS and HTTP and never looks into what passes.
//
// # Concurrency
//
//  1. Every method may be called from any goroutine.
//  2. Each connection has one goroutine for each direction; Close ends them all and
//     returns when they have ended.
//  3. Set takes effect at once: it also ends the waits that earlier Conditions began.
package badnet
