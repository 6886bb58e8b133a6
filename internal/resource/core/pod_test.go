package core_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {nodeName: n1, containers: [{name: a, image: nginx}, {name: b, image: redis}], initContainers: [{name: i, image: x}]}
status:
  phase: Running
  hostIP: 192.0.2.1
  hostIPs: [{ip: 192.0.2.1}]
  podIP: 10.1.0.2
  podIPs: [{ip: 10.1.0.2}]
  conditions: [{type: Ready, status: "True"}]
  initContainerStatuses: [{name: i, image: x, imageID: x, state: {terminated: {exitCode: 0}}}]
  containerStatuses:
  - {name: a, image: nginx, imageID: x, ready: true, restartCount: 1, state: {running: {}}}
  - {name: b, image: redis, imageID: x, state: {terminated: {exitCode: 1}}}
`

func TestPodStatus(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), pod)
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"phase", "status.phase: Failed"},
		{"malformed nominated node", "status.nominatedNodeName: A_",
			"status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
			`status.nominatedNodeName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or`},
		{"malformed pod IP", "status.podIP: here\nstatus.podIPs: [{ip: here}]",
			`status.podIPs[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"two pod IPs of a family", "status.podIPs: [{ip: 10.1.0.2}, {ip: 10.1.0.3}]",
			`status.podIPs: Invalid value: [{"ip":"10.1.0.2"},{"ip":"10.1.0.3"}]: may specify no more than one IP for each IP family`},
		{"three pod IPs", "status.podIPs: [{ip: 10.1.0.2}, {ip: 'fd00::2'}, {ip: 10.1.0.3}]",
			`status.podIPs: Invalid value: [{"ip":"10.1.0.2"},{"ip":"fd00::2"},{"ip":"10.1.0.3"}]: may specify no more than one IP for each IP family`},
		{"pod IP twice", "status.podIPs: [{ip: 10.1.0.2}, {ip: 10.1.0.2}]",
			`status.podIPs: Invalid value: [{"ip":"10.1.0.2"},{"ip":"10.1.0.2"}]: may specify no more than one IP for each IP family`},
		{"malformed host IP", "status.hostIP: here\nstatus.hostIPs: [{ip: here}]",
			`status.hostIPs[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"terminated container that runs again", "status.containerStatuses[1].state: {running: {}}"},
		{"init container that runs again", "status.initContainerStatuses[0].state: {running: {}}"},
		{"status of no container", "status.containerStatuses[2]: {name: z, image: x, imageID: x}"},
		{"malformed condition", "status.conditions[0].type: 'a b'",
			`status.conditions[0].Type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"negative observedGeneration", "status.observedGeneration: -1",
			"status.observedGeneration: Invalid value: -1: must be a non-negative integer"},
		{"claim of no name", "status.resourceClaimStatuses: [{name: c, resourceClaimName: a}]",
			"status.resourceClaimStatuses[0].name: Invalid value: \"c\": must match the name of an entry in `spec.resourceClaims`"},
	})
	k.Reported(t, []resourcetest.Case{
		{"spec", "spec.nodeName: n2\nstatus.phase: Failed", "spec.nodeName: n1", "status.phase: Failed"},
		{"owners", "metadata.ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]", "metadata.ownerReferences: ~"},
	})
	k.Rows(t, []resourcetest.Case{
		{"running", "", "web  1/2  ExitCode:1  1  <unknown>  10.1.0.2  n1  <none>  <none>"},
		{"both run", "status.containerStatuses[1].state: {running: {}}\nstatus.containerStatuses[1].ready: true", "web  2/2  Running  1  <unknown>  10.1.0.2  n1  <none>  <none>"},
		{"image that does not exist", "status.containerStatuses[0]: {name: a, state: {waiting: {reason: ErrImagePull}}}", "web  0/2  ErrImagePull  0  <unknown>  10.1.0.2  n1  <none>  <none>"},
		{"evicted", "status: {phase: Failed, reason: Evicted}", "web  0/2  Evicted  0  <unknown>  <none>  n1  <none>  <none>"},
		{"gates", "spec.readinessGates: [{conditionType: Ready}, {conditionType: x}]\nstatus.nominatedNodeName: n2", "web  1/2  ExitCode:1  1  <unknown>  10.1.0.2  n1  n2  1/2"},
	})
}

const controller = `
apiVersion: v1
kind: ReplicationController
metadata: {name: rc, namespace: default}
spec:
  replicas: 1
  selector: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: nginx}]}
status: {replicas: 1, readyReplicas: 1}
`

func TestReplicationController(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), controller)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"negative replicas", "spec.replicas: -1",
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
		{"negative minReadySeconds", "spec.minReadySeconds: -1",
			"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{"no template", "spec.template: ~",
			"spec.template: Required value"},
		{"selector of other labels", "spec.selector: {app: x}",
			"spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`"},
		{"pods that end", "spec.template.spec.restartPolicy: Never",
			`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		{"pods with a deadline", "spec.template.spec.activeDeadlineSeconds: 1",
			"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported"},
	})
	k.Update(t, []resourcetest.Case{
		{"replicas", "spec.replicas: 2"},
		{"selector", "spec.selector: {app: x}\nspec.template.metadata.labels: {app: x}"},
	})
	k.Status(t, []resourcetest.Case{{"negative", "status.replicas: -1",
		"status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas",
		"status.fullyLabeledReplicas: Invalid value: 0: cannot be greater than status.replicas",
		"status.readyReplicas: Invalid value: 1: cannot be greater than status.replicas",
		"status.replicas: Invalid value: -1: must be greater than or equal to 0"}, {"more ready than all", "status.readyReplicas: 2",
		"status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"}})
	k.Defaults(t, []resourcetest.Case{
		{"replicas", "spec.replicas: ~", "spec.replicas: 1"},
		{"selector and labels", "spec.selector: ~", "spec.selector: {app: web}", "metadata.labels: {app: web}"},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {replicas: 0}", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"replicas", "spec.replicas: 2", "metadata.generation: 2"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "rc  1  1  1  <unknown>  a  nginx  app=web"}})
}

const podTemplate = `
apiVersion: v1
kind: PodTemplate
metadata: {name: t, namespace: default}
template:
  metadata: {labels: {app: web}}
  spec: {containers: [{name: a, image: nginx}]}
`

func TestPodTemplate(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), podTemplate)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no containers", "template.spec.containers: []",
			"template.spec.containers: Required value"},
		{"malformed label", "template.metadata.labels: {a: 'b c'}",
			`template.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and`},
	})
	k.Update(t, []resourcetest.Case{{"image", "template.spec.containers[0].image: redis"}, {"no image", "template.spec.containers[0].image: ''",
		"template.spec.containers[0].image: Required value"}})
	k.Defaults(t, []resourcetest.Case{{"pods", "", "template.spec.restartPolicy: Always"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "t  a  nginx  app=web"}})
}

const event = `
apiVersion: v1
kind: Event
metadata: {name: e, namespace: default}
involvedObject: {kind: Pod, namespace: default, name: web, apiVersion: v1}
type: Normal
reason: Started
message: started
source: {component: kubelet}
count: 2
firstTimestamp: 1999-12-31T23:00:00Z
lastTimestamp: 1999-12-31T23:55:00Z
`

func TestEvent(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), event)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"namespace of another", "involvedObject.namespace: other",
			`involvedObject.namespace: Invalid value: "other": does not match event.namespace`},
		{"cluster object", "involvedObject: {kind: Node, name: n1}"},
	})
	k.Rows(t, []resourcetest.Case{{"row", "", "5m  Normal  Started  pod/web    kubelet  started  60m  2  e"}})
}
