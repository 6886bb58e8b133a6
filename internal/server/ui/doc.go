// Package ui serves the page at /ui, which shows the lives of events: a live log, an event's hops and effects, an
// object's states and their authors, watchers, queues, and any kept revision of an object.
//
// The page is plain files (assets). Like any client, it reads its data from the API server: from /debug/lives,
// /debug/watchers and /debug/why, from /metrics, and by lists at a revision.
//
// # Access
//
// [Page.Link] creates a login link for a user, valid for one login within a few minutes. Its secret is in the
// fragment, so that no server and no log on the way sees it; the login page sends it in a POST. That starts a
// session, whose secret is a cookie that scripts cannot read and that other sites' requests do not carry. The
// page's API requests are made and authorized as that user. When a session ends, by a logout or by its time, the
// contexts of its requests end, and with them all open responses.
//
// [Page.Over] removes the cookie from every request, so that no handler behind it, such as a proxied pod, ever sees
// it, and [Page.Authenticate] accepts it only in requests of the page's own scripts: they have the header [Header],
// which a script of another origin cannot set without a preflight, and browsers mark them as same-origin. A link or
// a form on another site can therefore not act in the user's name.
//
// Links and sessions are kept in memory, as digests: a restart ends them all.
//
// # Concurrency
//
// A Page may be used from any goroutine.
package ui
