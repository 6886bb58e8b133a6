package storage_test

import (
	"testing"

	"fairlead.dev/internal/resource/resourcetest"
	"fairlead.dev/internal/resource/storage"
)

const class = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
parameters: {type: ssd}
reclaimPolicy: Delete
volumeBindingMode: Immediate
`

func TestStorageClass(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no provisioner", "provisioner: ''",
			"provisioner: Required value"},
		{"provisioner", "provisioner: a b",
			`provisioner: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`},
		{"parameter without a name", "parameters: {'': a}",
			`parameters: Invalid value: "": field can not be empty.`},
		{"reclaim policy", "reclaimPolicy: Keep",
			`reclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Retain"`},
		{"recycle", "reclaimPolicy: Recycle",
			`reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"`},
		{"binding mode", "volumeBindingMode: Some",
			`volumeBindingMode: Unsupported value: "Some": supported values: "Immediate", "WaitForFirstConsumer"`},
		{"topology", "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a]}]}]"},
		{"topology without values", "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: []}]}]",
			"allowedTopologies[0].matchLabelExpressions[0].values: Required value"},
		{"topology key twice", "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a]}, {key: zone, values: [b]}]}]",
			`allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"`},
		{"topology value twice", "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, a]}]}]",
			`allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"`},
		{"topology twice", "allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a]}]}, {matchLabelExpressions: [{key: zone, values: [a]}]}]",
			`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`},
		{"topology key", "allowedTopologies: [{matchLabelExpressions: [{key: 'a b', values: [a]}]}]",
			`allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or`},
	})
	k.Update(t, []resourcetest.Case{
		{"expansion", "allowVolumeExpansion: true"},
		{"parameters", "parameters: {type: hdd}",
			`parameters: Invalid value: null: field is immutable`},
		{"provisioner", "provisioner: example.com/other",
			`provisioner: Invalid value: null: field is immutable`},
		{"reclaim policy", "reclaimPolicy: Retain",
			`reclaimPolicy: Invalid value: null: field is immutable`},
		{"binding mode", "volumeBindingMode: WaitForFirstConsumer",
			`volumeBindingMode: Invalid value: null: field is immutable`},
	})
	k.Defaults(t, []resourcetest.Case{{"policy and mode", "reclaimPolicy: ~\nvolumeBindingMode: ~", "reclaimPolicy: Delete", "volumeBindingMode: Immediate"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "fast  example.com/disk  Delete  Immediate  false  <unknown>"},
		{"default", "metadata.annotations: {storageclass.kubernetes.io/is-default-class: 'true'}", "fast (default)  example.com/disk  Delete  Immediate  false  <unknown>"},
	})
}

const attachment = `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: a}
spec: {attacher: example.com, nodeName: n1, source: {persistentVolumeName: pv1}}
status: {attached: true, attachmentMetadata: {a: b}}
`

func TestVolumeAttachment(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), attachment)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no attacher", "spec.attacher: ''",
			"spec.attacher: Required value"},
		{"attacher", "spec.attacher: a_b",
			`spec.attacher: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"no node", "spec.nodeName: ''",
			`spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must`},
		{"no source", "spec.source: {}",
			"spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"},
		{"volume's name", "spec.source.persistentVolumeName: A_",
			`spec.source.persistentVolumeName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,`},
		{"empty volume's name", "spec.source.persistentVolumeName: ''",
			`spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-'`,
			"spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName"},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}, {"node", "spec.nodeName: n2",
		"spec: Invalid value: null: field is immutable"}, {"source", "spec.source.persistentVolumeName: pv2",
		"spec: Invalid value: null: field is immutable"}})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {attached: false}"}})
	k.Updated(t, []resourcetest.Case{{"status", "status.attached: true", "status.attached: false"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.nodeName: n2\nstatus.attached: false", "spec.nodeName: n1", "status.attached: false"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "a  example.com  pv1  n1  true  <unknown>"}})
}

const driver = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: example.com}
spec: {attachRequired: true, podInfoOnMount: false, storageCapacity: true, volumeLifecycleModes: [Persistent]}
`

func TestCSIDriver(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), driver)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: a_b",
			`metadata.name: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"lifecycle mode", "spec.volumeLifecycleModes: [Some]",
			`spec.volumeLifecycleModes: Unsupported value: "Some": supported values: "Persistent", "Ephemeral"`},
		{"group policy", "spec.fsGroupPolicy: Some",
			`spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"`},
		{"token twice", "spec.tokenRequests: [{audience: a}, {audience: a}]",
			`spec.tokenRequests[1].audience: Duplicate value: "a"`},
		{"token too short", "spec.tokenRequests: [{audience: a, expirationSeconds: 599}]",
			"spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"},
		{"token too long", "spec.tokenRequests: [{audience: a, expirationSeconds: 4294967297}]",
			"spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"},
		{"period too short", "spec.nodeAllocatableUpdatePeriodSeconds: 9",
			"spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds"},
	})
	k.Update(t, []resourcetest.Case{
		{"capacity and info", "spec.storageCapacity: false\nspec.podInfoOnMount: true"},
		{"attach", "spec.attachRequired: false",
			"spec.attachedRequired: Invalid value: false: field is immutable"},
		{"lifecycle modes", "spec.volumeLifecycleModes: [Persistent, Ephemeral]",
			`spec.volumeLifecycleModes: Invalid value: ["Persistent","Ephemeral"]: field is immutable`},
	})
	k.Defaults(t, []resourcetest.Case{{"all", "spec: {}", "spec.attachRequired: true", "spec.podInfoOnMount: false", "spec.storageCapacity: false",
		"spec.fsGroupPolicy: ReadWriteOnceWithFSType", "spec.volumeLifecycleModes: [Persistent]", "spec.requiresRepublish: false", "spec.seLinuxMount: false",
		"spec.preventPodSchedulingIfMissing: false"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "example.com  true  false  true  <unset>  false  Persistent  <unknown>"}})
}

const node = `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: example.com, nodeID: n1, topologyKeys: [zone], allocatable: {count: 3}}]}
`

func TestCSINode(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), node)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no name", "spec.drivers[0].name: ''",
			"spec.drivers[0].name: Required value"},
		{"name", "spec.drivers[0].name: a_b",
			`spec.drivers[0].name: Invalid value: "a_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"no node", "spec.drivers[0].nodeID: ''",
			"spec.drivers[0].nodeID: Required value"},
		{"driver twice", "spec.drivers[1]: {name: example.com, nodeID: n2}",
			`spec.drivers[1].name: Duplicate value: "example.com"`},
		{"topology key", "spec.drivers[0].topologyKeys: ['']",
			`spec.drivers[0]: Invalid value: "": name part must be non-empty`,
			`spec.drivers[0]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`,
			"spec.drivers[0]: Required value"},
		{"topology key twice", "spec.drivers[0].topologyKeys: [a, a]",
			`spec.drivers[0]: Duplicate value: "a"`},
		{"negative count", "spec.drivers[0].allocatable.count: -1",
			"spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0"},
	})
	k.Update(t, []resourcetest.Case{
		{"another driver", "spec.drivers[1]: {name: other.example.com, nodeID: n1}"},
		{"node of a driver", "spec.drivers[0].nodeID: n2",
			`spec.drivers: Invalid value: {"name":"example.com","nodeID":"n2","topologyKeys":["zone"]}: field is immutable`},
		{"no drivers", "spec.drivers: []"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "n1  1  <unknown>"}})
}

const capacity = `
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: c, namespace: default}
storageClassName: fast
capacity: 1Gi
maximumVolumeSize: 1Gi
nodeTopology: {matchLabels: {a: b}}
`

func TestCSIStorageCapacity(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), capacity)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no class", "storageClassName: ''",
			`storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"class", "storageClassName: A_",
			`storageClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"negative", "capacity: -1\nmaximumVolumeSize: -1",
			`capacity: Invalid value: "-1": must be greater than or equal to 0`},
		{"topology", "nodeTopology: {matchLabels: {'a b': c}}",
			`nodeTopology.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
	})
	k.Update(t, []resourcetest.Case{{"capacity", "capacity: 2Gi"}, {"class", "storageClassName: slow",
		`storageClassName: Invalid value: "slow": field is immutable`}, {"topology", "nodeTopology: {matchLabels: {a: c}}",
		`nodeTopology: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`}})
	k.Rows(t, []resourcetest.Case{{"row", "", "c  0001-01-01T00:00:00Z"}})
}

const attributes = `
apiVersion: storage.k8s.io/v1
kind: VolumeAttributesClass
metadata: {name: gold}
driverName: example.com
parameters: {iops: "100"}
`

func TestVolumeAttributesClass(t *testing.T) {
	k := resourcetest.New(t, storage.Resources(), attributes)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no driver", "driverName: ''",
			"driverName: Required value"},
		{"driver", "driverName: a_b"},
		{"no parameters", "parameters: ~",
			"parameters: Required value: must contain at least one key/value pair"},
		{"parameter without a name", "parameters: {'': a}",
			`parameters: Invalid value: "": field can not be empty.`},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}, {"driver", "driverName: other.example.com",
		"driverName: Forbidden: updates to driverName are forbidden."}, {"parameters", "parameters: {iops: '200'}",
		"parameters: Forbidden: updates to parameters are forbidden."}})
	k.Rows(t, []resourcetest.Case{{"row", "", "gold  example.com  <unknown>"}})
}
