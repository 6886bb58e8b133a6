// Package h2 serves HTTP/2 connections of an http.Server in place of net/http.
//
// Frames and header compression are golang.org/x/net/http2's. What is here is
// what lies above: the states of streams, flow control, who writes when, and
// limits. Handlers are ordinary http.Handlers and find what they find under
// net/http; [Install] is all there is to do. What is new is that a handler may
// leave: it gives the rest of its answer to the connection as a [Source] with
// [HandOver] and returns. From then on the answer has no goroutine, no request,
// no context and no buffer, only a stream and what the source itself keeps. A
// hundred thousand watches that see nothing are a hundred thousand such pairs.
//
// # Why
//
// net/http's connection is a goroutine that owns everything; handlers send it
// their frames and wait, and it sends each frame to another goroutine that
// writes it, by one TLS record and one system call. An event that goes to fifty
// watches of a connection is fifty wake-ups of handlers, two hundred hand-overs
// and fifty writes. Here it is fifty entries in a list, one wake-up, one pass
// over the list into one buffer, and one write.
//
// # What belongs to whom
//
// A conn has one lock, conn.mu, which guards its streams, windows, lists and
// the frames that are to go out. It is held for moments: to look at a frame, to
// compress headers, to copy a piece of a body. Nobody reads, writes, calls a
// handler or a source, or waits for anything else while holding it; so anybody
// may take it, also one who rings a bell with locks of his own.
//
//   - The reader is the goroutine that net/http gave us. It reads frames and
//     never writes, so that it goes on reading whatever the peer does not take.
//   - A handler runs on a goroutine of its own, which may have run others of the
//     connection before. What it writes is gathered in a buffer
//     of its response, and goes from there into conn.mu.out, as much as both
//     windows allow. Then it waits until the rest has gone there too.
//   - Writing is a role, not a goroutine: who finds frames in out and nobody
//     writing takes it. The role owns the other buffer, the one being written,
//     and is the only one to call sources. A handler takes the role for one
//     write, which saves small answers a wake-up; whatever comes from anybody
//     else, and what is left after that, is written by a goroutine that ends
//     when there is no more.
//
// A stream is in one of three lists, or in none: queue, if its handler has
// something to send and the windows allow it; ready, if its source may have
// something; stalled, if its source has and the windows do not allow it. The
// role takes ready streams in turn. Each is granted a part of both windows, is
// asked for as much as a TLS record has room for, which goes right into the buffer
// being written behind its frame's header, and gives back what it did not use. While
// there is more at once only whole records are written: the rest of the buffer goes
// before what comes next. What a source
// produced beyond its grant stays with the stream and goes out first the next time.
//
// # What a slow or dead peer does
//
//   - One that does not read a stream: its window runs out and the stream is
//     stalled. A handler waits, as under net/http, within its write deadline. A
//     source is not asked any more; after [Options].WriteTimeout the stream is
//     reset and the source closed with [ErrStuck]. Other streams go on.
//   - One that does not read the connection: the write blocks, and after
//     WriteTimeout the connection is closed. Until then handlers wait as soon as
//     64 KB are waiting, and bells only mark their streams.
//   - One that is gone without a word is noticed at the next write, or by TCP's
//     keep-alive, as under net/http.
//   - One that sends no request for http.Server.IdleTimeout is told GOAWAY.
//   - One that misbehaves is answered with the stream or connection error of
//     RFC 9113. Limits: http.HTTP2Config.MaxConcurrentStreams streams, above which
//     they are refused; as many handlers, so that streams reset early wait for a
//     place and four times as many end the connection; http.Server.MaxHeaderBytes
//     of headers; 10,000 answers to pings, settings and errors that wait to be
//     written; 256 KB unread of each request's body.
//
// # The end
//
// Shutdown of the http.Server sends GOAWAY on each connection; streams that are
// open go on, new ones are not looked at, and with the last one the connection
// ends. When a connection has ended, its handlers' contexts are done, their
// reads and writes fail, and every source has been closed.
//
// # Concurrency
//
//  1. A handler's ResponseWriter and body may be used as under net/http: by one
//     goroutine each, deadlines from any.
//  2. A Source is called by one goroutine at a time, with no lock held. Close is
//     called once, last, whatever happens.
//  3. The function that HandOver returns may be called from any goroutine at any
//     time, with locks held that sources and handlers take. It does not block.
//  4. Locks: Server.mu is taken alone. conn.mu before a body's or a context's.
package h2
