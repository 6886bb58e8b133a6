// Package endpointslice describes the pods behind each Service with a selector
// in EndpointSlices, 100 endpoints to a slice, for kube-proxy, DNS and the like.
//
// Slices are separate by address family and by the set of port numbers, which
// may differ from pod to pod when a Service names its target port. Within these
// a change touches as few slices as can be: endpoints stay in the slice where
// they are, new ones go first into slices that are written anyway, then into
// one with room for all of them, then into new slices. Slices that have become
// empty are made over into new ones, or deleted; a Service without endpoints keeps
// one empty slice for each family.
//
// A Service with the annotation service.kubernetes.io/topology-mode: Auto has its ready
// endpoints shared out among the zones, by the CPU of their nodes, as hints say; each pass
// computes that anew, and of several ways takes the one that changes less.
//
// Slices belong to their Service by owner reference, so the garbage collector
// removes them with it. Those that bear another manager's name in
// endpointslice.kubernetes.io/managed-by are left alone.
//
// # Concurrency
//
//  1. Passes over one Service never overlap.
//  2. A pass begins only when the cache shows all that the last one wrote
//     (podcontrol.Written).
//  3. Changes of pods that follow within 100 ms share a pass; the first one
//     after a quiet spell does not wait.
package endpointslice
