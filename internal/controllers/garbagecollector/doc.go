// Package garbagecollector deletes objects whose owners are gone, and implements the three propagation policies of
// deletions.
//
// It maintains a graph of all deletable objects and their owners, fed by an informer for each resource that
// discovery finds; discovery is repeated when custom resource definitions or API services change. The graph only
// tells which objects to check. Before an object is deleted or patched, the server is asked by name and UID, and
// the deletion is conditional on the resourceVersion that the decision was made on.
//
//   - background: an owner disappears; its dependents lose their last owner and
//     are deleted, and so on down.
//   - foreground: an owner has the finalizer foregroundDeletion and a deletion
//     timestamp. Its dependents are deleted first; when no dependent blocks
//     it any more (blockOwnerDeletion), the finalizer is removed.
//   - orphan: an owner has the finalizer orphan and a deletion timestamp. The
//     references to it are removed from its dependents, then the finalizer is removed.
//
// An object with several owners stays as long as one of them exists; references to the others are removed from it.
//
// # Virtual nodes
//
// An object may refer to an owner that no informer has shown: the owner may be about to appear, have been deleted
// before the graph was built, or never have existed. The graph has it as a virtual node with the coordinates that
// the dependent claims, and the server is asked for it. Claims can be wrong (another namespace, another kind,
// another object's UID), so each dependent is judged by its own claim: a wrong one deletes the object that makes
// it, and never those with the right claim.
//
// # Concurrency
//
//  1. Informers' handlers change the graph, each under its one mutex; there is
//     no queue between them.
//  2. Work on one object never overlaps. No request is made under the mutex.
//  3. No work begins before all resources found at the start have been listed.
package garbagecollector
