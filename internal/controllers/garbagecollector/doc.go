// Package garbagecollector deletes objects whose owners are gone, and carries
// out the three ways in which an owner can be deleted.
//
// It keeps a graph of all objects that can be deleted and who owns whom, fed by
// an informer for each resource that discovery finds; the set of resources is
// looked at anew when custom resource definitions or API services change. The
// graph only says where to look. Before anything is deleted or patched the
// server is asked, by name and UID, and the deletion holds only for the
// resourceVersion that the decision was made on.
//
//   - background: an owner disappears; its dependents lose their last owner and
//     are deleted, and so on down.
//   - foreground: an owner bears the finalizer foregroundDeletion and a time of
//     deletion. Its dependents are deleted first; when none is left that blocks
//     it (blockOwnerDeletion), the finalizer goes.
//   - orphan: an owner bears the finalizer orphan and a time of deletion. The
//     references to it are taken out of its dependents, then the finalizer goes.
//
// An object with several owners stays as long as one of them does; references
// to the others are taken out of it.
//
// # Virtual nodes
//
// An object may name an owner that no informer has shown: it may be about to
// appear, or have gone before we looked, or never have existed. It stands in
// the graph as a virtual node with the coordinates that the dependent claims,
// and the server is asked about it. As claims can be wrong (another namespace,
// another kind, the UID of somebody else), each dependent is judged by its own
// claim: a wrong one deletes the object that makes it, and never those that
// claim rightly.
//
// # Concurrency
//
//  1. Informers' handlers change the graph, each under its one mutex; there is
//     no queue between them.
//  2. Work on one object never overlaps. No request is made under the mutex.
//  3. No work begins before all resources found at the start have been listed.
package garbagecollector
