// Package statefulset is the StatefulSet controller: pods with names and storage of
// their own, numbered from spec.ordinals.start, made and taken down in order.
//
// With podManagementPolicy OrderedReady a pod is made when all below it are available
// and removed when all below it are; with Parallel order is not kept. A rolling update
// goes from the highest ordinal down to spec.updateStrategy.rollingUpdate.partition,
// one pod at a time, or maxUnavailable of them if that is set; with OnDelete a pod takes
// the new template when someone deletes it. Templates are remembered as
// ControllerRevisions (podcontrol/history). Every claim of volumeClaimTemplates exists
// before its pod does; persistentVolumeClaimRetentionPolicy decides, through owner
// references, what becomes of it when the set shrinks or goes.
//
// One pass works on one StatefulSet from the informers' view of it. Names are fixed, so
// a view that lags cannot lead to a second pod of the same ordinal: the server refuses
// it, and a deletion names the UID that was seen.
package statefulset
