// Package h2 serves HTTP/2 connections of an http.Server in place of net/http's implementation.
//
// Frames and header compression are golang.org/x/net/http2's. This package adds the layer above: stream states,
// flow control, the scheduling of writes, and limits. Handlers are ordinary http.Handlers and see the same
// behaviour as under net/http; a server needs to call only [Install]. In addition, a handler may leave before its
// response is complete: it passes the rest to the connection as a [Source] with [HandOver] and returns. From then
// on the response has no goroutine, request, context or buffer, only a stream and the source's own state. A hundred
// thousand idle watches are a hundred thousand such pairs.
//
// # Why
//
// In net/http, one goroutine owns the connection. Handlers send it their frames and wait, and it passes each frame
// to another goroutine, which writes it in one TLS record and one system call. An event for fifty watches of a
// connection then costs fifty wake-ups of handlers, two hundred hand-overs and fifty writes. Here it costs fifty
// list entries, one wake-up, one pass over the list into one buffer, and one write.
//
// # Ownership
//
// A conn has one lock, conn.mu, which guards its streams, windows, lists and outgoing frames. It is held briefly:
// to process a frame, compress headers, or copy a piece of a body. No goroutine reads, writes, calls a handler or a
// source, or waits while holding it. Any goroutine may therefore take it, even one that rings a bell while holding
// locks of its own.
//
//   - The reader is the goroutine that net/http provides. It reads frames and
//     never writes, so it keeps reading even if the peer does not.
//   - A handler runs on a goroutine of its own, which may have run other handlers
//     of the connection before. Its output is buffered in a buffer of its
//     response and moves from there into conn.mu.out, as far as both windows
//     allow. The handler waits until the rest has moved too.
//   - Writing is a role, not a goroutine. A goroutine that finds frames in out
//     while the role is free takes it. The role owns the second buffer, the one
//     being written, and is the only caller of sources. A handler takes the role
//     for one write, which saves small responses a wake-up. Frames from all
//     others, and frames left after that write, are written by a goroutine that
//     ends when all are written.
//
// A stream is in at most one of three lists: queue, if its handler has data to send and the windows allow it;
// ready, if its source may have data; stalled, if its source has data and the windows do not allow it. The role
// serves ready streams in turn. It lends each a part of both windows and asks it for as much data as fits a TLS
// record. The data goes straight into the buffer being written, behind its frame header, and the unused credit is
// returned. While sources have more data, only whole records are written; the rest of the buffer is written first
// in the next round. Data that a source produced beyond its credit stays with the stream and is sent first the next
// time.
//
// # Slow and dead peers
//
//   - A peer that does not read a stream: the stream's window runs out and the
//     stream is stalled. A handler waits, as under net/http, until its write
//     deadline. A source is no longer asked; after [Options].WriteTimeout the
//     stream is reset and the source closed with [ErrStuck]. Other streams go on.
//   - A peer that does not read the connection: the write blocks, and after
//     WriteTimeout the connection is closed. Until then handlers wait once 64 KB
//     are waiting, even to send a head alone, and bells only mark their streams.
//   - A peer that vanishes is noticed at the next write, or by TCP's keep-alive,
//     as under net/http.
//   - A peer without requests for http.Server.IdleTimeout is sent GOAWAY.
//   - A peer that violates the protocol gets the stream or connection error of
//     RFC 9113. Limits: http.HTTP2Config.MaxConcurrentStreams streams, above which
//     they are refused; as many handlers, so that a stream whose predecessors were
//     reset early waits for a handler, and four times as many waiting end the
//     connection; http.Server.MaxHeaderBytes of headers; 10,000 unwritten responses
//     to pings, settings and errors; 256 KB unread of each request's body. Known
//     attacks are tests: attack_*_test.go.
//
// # Shutdown
//
// Shutdown of the http.Server sends GOAWAY on each connection. Open streams go on, new ones are ignored, and the
// connection ends with its last stream. After a connection has ended, its handlers' contexts are done, their reads
// and writes fail, and every source has been closed.
//
// # Concurrency
//
//  1. A handler's ResponseWriter and body may be used as under net/http: by one
//     goroutine each, deadlines from any.
//  2. A Source is called by one goroutine at a time, with no lock held. Close is
//     always called, once, as the last call.
//  3. The function that HandOver returns may be called from any goroutine at any
//     time, with locks held that sources and handlers take. It does not block.
//  4. Locks: Server.mu is taken alone; conn.mu before a body's or a context's.
package h2
