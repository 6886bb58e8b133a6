// Package ui serves the page at /ui, which shows the lives of events: a live log, an event's hops and effects, an
// object's states and their authors, watchers, queues, and any kept revision of an object. The page also changes
// objects, follows logs and opens terminals; where the server allows it, it injects faults and advances a virtual clock.
//
// The page is plain files (assets). Like any client, it reads its data from the API server: from /debug/lives,
// /debug/watchers, /debug/why and /debug/map, from /metrics, and by lists at a revision; and it writes by the API's verbs.
//
// # Access
//
// [Page.Link] creates a login link for a user, valid for one login within a few minutes. Its secret is in the
// fragment, so that no server and no log on the way sees it; the login page sends it in a POST. That starts a
// session, whose secret is a cookie that scripts cannot read and that other sites' requests do not carry. The
// page's API requests are made and authorized as that user. When a session ends, by a logout or by its time, the
// contexts of its requests end, and with them all open responses. On a server with a virtual clock all of these expire by
// the real time ([Options.RealTime]): a user who advances the clock by a day stays logged in.
//
// [Page.Over] removes the cookie from every request, so that no handler behind it, such as a proxied pod, ever sees
// it, and [Page.Authenticate] accepts it only in requests of the page's own scripts: they have the header [Header],
// which a script of another origin cannot set without a preflight, and browsers mark them as same-origin. A WebSocket
// cannot have the header; it must have the page's Origin, which browsers always send and scripts cannot choose. A link,
// a form or a script on another site can therefore not act in the user's name.
//
// # Visits
//
// The page opens a pod's HTTP port in a new tab by the API server's proxy. The pod's pages must not be pages of this
// origin, since their scripts could then act as the user. A visit is therefore a path with a secret, which leads to
// the proxy of one pod or service and nowhere else, as the user who opened it. Its responses have the policy sandbox:
// browsers give them an origin of their own, without the cookie. Headers by which a pod could change what the browser
// keeps of this server are removed. A visit ends after [VisitLife], or with its session.
//
// Links, sessions and visits are kept in memory, as digests: a restart ends them all.
//
// # Concurrency
//
// A Page may be used from any goroutine.
package ui
