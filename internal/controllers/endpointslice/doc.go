// Package endpointslice is the controller of EndpointSlices: it lists the pods behind each Service with a selector,
// 100 endpoints to a slice, for kube-proxy, DNS and others.
//
// Slices are separate by address family and by the set of port numbers, which may differ from pod to pod if a
// Service names its target port. Within these a change modifies as few slices as possible: endpoints stay in their
// slice, new ones go first into slices that are written anyway, then into one with room for all of them, then into
// new slices. Empty slices are reused for new ones, or deleted; a Service without endpoints keeps one empty slice
// for each family.
//
// A Service with the annotation service.kubernetes.io/topology-mode: Auto has its ready endpoints distributed among
// the zones, by the CPU of their nodes, as hints; each pass computes that again, and among equivalent distributions
// takes the one with fewer changes.
//
// Slices have an owner reference to their Service, so the garbage collector deletes them with it. Slices with
// another manager in endpointslice.kubernetes.io/managed-by are left alone.
//
// # Concurrency
//
//  1. Passes over one Service never overlap.
//  2. A pass begins only when the cache has all writes of the last one
//     (podcontrol.Written).
//  3. Changes of pods within 100 ms share a pass; the first one
//     after a pause is not delayed.
package endpointslice
