// Package history stores the revisions of a pod template as ControllerRevisions, for the controllers that label
// pods with their revision: StatefulSet and DaemonSet.
//
// A revision's data is the strategic merge patch that restores the template,
//
//	{"spec":{"template":{"$patch":"replace","metadata":…,"spec":…}}}
//
// which is upstream's format, and the patch that `kubectl rollout undo` applies. Its name is the owner's with a hash of the
// data, so that two controllers with the same template create the same name.
//
// A Keeper is immutable after New and safe for concurrent use; it has no state but the informer it reads.
package history
