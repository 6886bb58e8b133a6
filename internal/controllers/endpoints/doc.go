// Package endpoints is the controller of Endpoints: it lists the pods behind each Service with a selector in one
// Endpoints object of the Service's name, the older form of EndpointSlices. It has at most 1000 addresses, and an
// annotation if it was truncated. Endpoints of a Service without a selector, or without any Service, are left
// alone; but an Endpoints object is deleted with its Service, even if a user created it, and one that outlived its Service
// is deleted when the controller starts.
//
// # Concurrency
//
// Passes over one Service never overlap, and begin only when the cache has the writes of the last one. Changes of
// pods within 100 ms share a pass.
package endpoints
