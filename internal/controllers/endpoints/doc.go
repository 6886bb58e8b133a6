// Package endpoints describes the pods behind each Service with a selector in
// one Endpoints object of the Service's name: the older form of EndpointSlices,
// still read by many. It bears at most 1000 addresses and says so when it is
// cut. One whose Service has no selector is somebody else's, and so is one without a
// Service; but an Endpoints object goes with its Service, whoever wrote it, and one that
// outlived its Service goes when the controller begins.
//
// # Concurrency
//
// Passes over one Service never overlap, and begin only when the cache shows
// what the last one wrote. Changes of pods that follow within 100 ms share a
// pass.
package endpoints
