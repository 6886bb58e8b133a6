// Package ui is the page at /ui, on which one sees the life of events: a log as it goes on,
// an event's hops, what came of it, an object's states and who made them, watchers, queues,
// and any kept revision of anything.
//
// The page is files (assets), which the browser runs as they are. What it shows it
// reads from the API server like any other client: from /debug/lives, /debug/watchers and
// /debug/why, from /metrics, and by lists at a revision.
//
// # Who may look
//
// [Page.Link] makes a link for a user, which is good for one login within a few minutes.
// Its secret lies behind the #, so that no server and no log on the way gets it; the login
// page sends it in a POST. That begins a session, whose secret is a cookie that scripts
// cannot read and that other sites' requests do not carry. What the page then asks the API
// for is asked as that user, who is authorized as ever. With the session ends whatever
// answer still goes on: its end, by a logout or by its time, is the end of the requests'
// contexts.
//
// [Page.Over] takes the cookie off every request, so that nothing behind it, a proxied pod
// say, ever sees it, and [Page.Authenticate] believes it only in requests that the page's own
// scripts make: they have the header [Header], which another origin's script cannot
// set without asking first, and the browser calls them same-origin. So a link or a
// form somewhere else can do nothing in the user's name.
//
// Links and sessions live in memory, in digests: a restart ends them all.
//
// # Concurrency
//
// A Page may be used from any goroutine.
package ui
