// Package history keeps the revisions of a pod template as ControllerRevisions,
// for the controllers whose pods tell by a label which revision they were made from:
// StatefulSet and DaemonSet.
//
// A revision's data is the template as the strategic merge patch that brings it back,
//
//	{"spec":{"template":{"$patch":"replace","metadata":…,"spec":…}}}
//
// which is how upstream stores it and what `kubectl rollout undo` applies. Its name is
// the owner's and a hash of the data, so that two controllers that see the same template
// ask for the same object.
//
// A Keeper is immutable after New and safe for concurrent use; it holds no state but
// the informer it reads.
package history
