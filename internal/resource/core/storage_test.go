package core_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv1}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: example.com, volumeHandle: v1}
  storageClassName: fast
`

func TestPersistentVolume(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), volume)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no capacity", "spec.capacity: ~",
			"spec.capacity: Required value",
			`spec.capacity: Unsupported value: null: supported values: "storage"`},
		{"other capacity", "spec.capacity: {cpu: 1}",
			`spec.capacity: Unsupported value: {"cpu":"1"}: supported values: "storage"`},
		{"no storage", "spec.capacity: {storage: 0}",
			`spec.capacity[storage]: Invalid value: "0": must be greater than zero`},
		{"no access modes", "spec.accessModes: ~",
			"spec.accessModes: Required value"},
		{"unknown access mode", "spec.accessModes: [Some]",
			`spec.accessModes: Unsupported value: "Some": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`},
		{"single pod and more", "spec.accessModes: [ReadWriteOncePod, ReadWriteOnce]",
			"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"},
		{"no source", "spec.csi: ~",
			"spec: Required value: must specify a volume type"},
		{"two sources", "spec.nfs: {server: a, path: /b}",
			"spec.csi: Forbidden: may not specify more than 1 volume type"},
		{"root of the host recycled", "spec.csi: ~\nspec.hostPath: {path: /}\nspec.persistentVolumeReclaimPolicy: Recycle",
			"spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"},
		{"unknown reclaim policy", "spec.persistentVolumeReclaimPolicy: Keep",
			`spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"`},
		{"storage class", "spec.storageClassName: A_",
			`spec.storageClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"unknown volume mode", "spec.volumeMode: Some",
			`spec.volumeMode: Unsupported value: "Some": supported values: "Block", "Filesystem"`},
		{"node affinity without terms", "spec.nodeAffinity: {required: {nodeSelectorTerms: []}}",
			"spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"},
		{"empty node affinity", "spec.nodeAffinity: {}",
			"spec.nodeAffinity.required: Required value: must specify required node constraints"},
		{"local without affinity", "spec.csi: ~\nspec.local: {path: /a}",
			"spec.nodeAffinity: Required value: Local volume requires node affinity"},
		{"local without path", "spec.csi: ~\nspec.local: {path: ''}\nspec.nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}",
			"spec.local.path: Required value"},
		{"CSI without driver and handle", "spec.csi: {driver: '', volumeHandle: ''}",
			"spec.csi.driver: Required value",
			"spec.csi.volumeHandle: Required value"},
		{"CSI secrets", "spec.csi.controllerPublishSecretRef: {name: a}\nspec.csi.nodeStageSecretRef: {namespace: b}",
			"spec.csi.controllerPublishSecretRef.namespace: Required value"},
		{"CSI driver", "spec.csi.driver: a_b",
			`spec.csi.driver: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"NFS", "spec.csi: ~\nspec.nfs: {server: '', path: b}",
			`spec.nfs.path: Invalid value: "b": must be an absolute path`,
			"spec.nfs.server: Required value"},
		{"host path above", "spec.csi: ~\nspec.hostPath: {path: /a/../b}",
			`spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'`},
		{"attributes class", "spec.volumeAttributesClassName: A_",
			`spec.volumeAttributesClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-'`},
		{"empty attributes class", "spec.volumeAttributesClassName: ''",
			"spec.volumeAttributesClassName: Required value: an empty string is disallowed"},
		{"mount options", "spec.mountOptions: [ro]"},
	})
	k.Update(t, []resourcetest.Case{
		{"capacity and policy", "spec.capacity: {storage: 2Gi}\nspec.persistentVolumeReclaimPolicy: Delete"},
		{"source", "spec.csi.volumeHandle: v2",
			"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -1,6 +1,6 @@\n {\n  \"csi\": {\n   \"driver\":"},
		{"volume mode", "spec.volumeMode: Block",
			`volumeMode: Invalid value: "Block": field is immutable`},
		{"node affinity", "spec.nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}"},
		{"attributes class", "spec.volumeAttributesClassName: gold"},
		{"claim", "spec.claimRef: {namespace: default, name: c}"},
	})
	k.Defaults(t, []resourcetest.Case{
		{"policy and mode", "", "spec.persistentVolumeReclaimPolicy: Retain", "spec.volumeMode: Filesystem", "status.phase: Pending"},
		{"host path", "spec.csi: ~\nspec.hostPath: {path: /a}", "spec.hostPath.type: ''"},
	})
	k.Created(t, []resourcetest.Case{{"phase", "status.phase: Bound", "status.phase: Pending"}})
	k.Updated(t, []resourcetest.Case{{"status", "status.phase: Bound", "status.phase: Pending"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.storageClassName: slow\nstatus.phase: Bound", "spec.storageClassName: fast", "status.phase: Bound"}})
	k.Rows(t, []resourcetest.Case{
		{"free", "status.phase: Available\nspec.persistentVolumeReclaimPolicy: Retain\nspec.volumeMode: Block", "pv1  1Gi  RWO  Retain  Available    fast  <unset>    <unknown>  Block"},
		{"bound", "status.phase: Bound\nspec.claimRef: {namespace: default, name: c}", "pv1  1Gi  RWO    Bound  default/c  fast  <unset>    <unknown>  <unset>"},
	})
}

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 1Gi}}
status: {phase: Bound, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}}
`

func TestPersistentVolumeClaim(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), claim)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no access modes", "spec.accessModes: ~",
			"spec.accessModes: Required value: at least 1 access mode is required"},
		{"unknown access mode", "spec.accessModes: [Some]",
			`spec.accessModes: Unsupported value: "Some": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"`},
		{"single pod and more", "spec.accessModes: [ReadWriteOncePod, ReadWriteMany]",
			"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"},
		{"no storage", "spec.resources: {}",
			"spec.resources[storage]: Required value"},
		{"no bytes", "spec.resources.requests.storage: 0",
			`spec.resources[storage]: Invalid value: "0": must be greater than zero`},
		{"negative", "spec.resources.requests.storage: -1",
			`spec.resources[storage]: Invalid value: "-1": must be greater than zero`},
		{"storage class", "spec.storageClassName: A_",
			`spec.storageClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"unknown volume mode", "spec.volumeMode: Some",
			`spec.volumeMode: Unsupported value: "Some": supported values: "Block", "Filesystem"`},
		{"malformed selector", "spec.selector: {matchExpressions: [{key: a, operator: In}]}",
			"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		{"source without name and kind", "spec.dataSource: {kind: '', name: ''}"},
		{"source of the core group", "spec.dataSource: {kind: Pod, name: a}"},
		{"snapshot", "spec.dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: a}"},
		{"two sources", "spec.dataSource: {kind: PersistentVolumeClaim, name: a}\nspec.dataSourceRef: {kind: PersistentVolumeClaim, name: b}",
			"spec: Invalid value: {}: must match dataSourceRef"},
		{"attributes class", "spec.volumeAttributesClassName: A_",
			`spec.volumeAttributesClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-'`},
	})
	k.Update(t, []resourcetest.Case{
		{"labels", "metadata.labels: {a: b}"},
		{"volume", "spec.volumeName: pv1"},
		{"access modes", "spec.accessModes: [ReadWriteMany]",
			"spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n"},
		{"storage class", "spec.storageClassName: slow",
			"spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -7,6 +7,6 @@\n"},
		{"more storage", "spec.resources.requests.storage: 2Gi",
			"spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -4,7 +4,7 @@\n"},
		{"volume mode", "spec.volumeMode: Block",
			"spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -8,5 +8,5 @@\n",
			`volumeMode: Invalid value: "Block": field is immutable`},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"negative capacity", "status.capacity: {storage: -1}",
			"status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"},
		{"unknown resource", "status.capacity: {disk: 1}"},
		{"allocated resources of a status", "status.allocatedResources: {storage: 1Gi}\nstatus.allocatedResourceStatuses: {storage: ControllerResizeInProgress}"},
		{"unknown allocation status", "status.allocatedResourceStatuses: {storage: Some}",
			`status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress",`},
		{"allocation of another resource", "status.allocatedResources: {cpu: 1}",
			`status.allocatedResources: Unsupported value: "cpu": supported values: "storage"`},
	})
	k.Defaults(t, []resourcetest.Case{
		{"mode", "", "spec.volumeMode: Filesystem"},
		{"source", "spec.dataSource: {kind: PersistentVolumeClaim, name: a}", "spec.volumeMode: Filesystem"},
	})
	k.Created(t, []resourcetest.Case{
		{"no status", "", "status: {phase: Pending}"},
		{"source and reference", "spec.dataSource: {kind: PersistentVolumeClaim, name: a}", "spec.dataSourceRef.kind: PersistentVolumeClaim", "spec.dataSourceRef.name: a"},
		{"reference and source", "spec.dataSourceRef: {kind: PersistentVolumeClaim, name: a}", "spec.dataSource.kind: PersistentVolumeClaim", "spec.dataSource.name: a"},
	})
	k.Updated(t, []resourcetest.Case{{"status", "status.phase: Lost", "status.phase: Pending"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.volumeName: pv2\nstatus.phase: Lost", "spec.volumeName: ~", "status.phase: Lost"}})
	k.Rows(t, []resourcetest.Case{
		{"bound", "spec.volumeName: pv1", "data  Bound  pv1  1Gi  RWO  fast  <unset>  <unknown>  <unset>"},
		{"pending", "status: {phase: Pending}", "data  Pending        fast  <unset>  <unknown>  <unset>"},
	})
}
