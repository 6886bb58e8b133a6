// Package statefulset is the StatefulSet controller: pods with stable names and storage, numbered from
// spec.ordinals.start, created and deleted in order.
//
// With podManagementPolicy OrderedReady a pod is created when all below it are available, and deleted, the
// highest first, when all below it are; with Parallel there is no order, and a rolling update
// replaces unavailable pods of the old template at once. A rolling update proceeds from the highest ordinal down to
// spec.updateStrategy.rollingUpdate.partition, maxUnavailable pods at a time, one if it is not set; with
// OnDelete a pod takes the new template when it is deleted. Templates are recorded as ControllerRevisions
// (podcontrol/history). Every claim of volumeClaimTemplates exists before its pod does;
// persistentVolumeClaimRetentionPolicy decides, through owner references, whether it is deleted when the set is
// scaled down or deleted.
//
// One pass works on one StatefulSet from the informers' state. Names are fixed, so a stale state cannot lead to a
// second pod of the same ordinal: the server rejects it, and a deletion contains the UID that was seen.
package statefulset
