package builtin_test

import (
	"testing"
	"testing/synctest"
)

// The clock of these tests stands at 2000-01-01 00:00:00 UTC.
var rowTests = []struct{ name, object, want string }{
	{"running pod", `
apiVersion: v1
kind: Pod
metadata: {name: web-0, creationTimestamp: "1999-12-31T23:55:00Z"}
spec: {nodeName: n1, containers: [{name: a}, {name: b}]}
status:
  phase: Running
  podIPs: [{ip: 10.0.0.7}]
  containerStatuses:
  - {name: a, ready: true, state: {running: {}}}
  - {name: b, ready: true, state: {running: {}}}
`, "web-0  2/2  Running  0  5m  10.0.0.7  n1  <none>  <none>"},
	{"pod that restarted", `
apiVersion: v1
kind: Pod
metadata: {name: web-0, creationTimestamp: "1999-12-31T22:00:00Z"}
spec: {nodeName: n1, containers: [{name: a}]}
status:
  phase: Running
  podIPs: [{ip: 10.0.0.7}]
  containerStatuses:
  - {name: a, ready: true, restartCount: 4, state: {running: {}}, lastState: {terminated: {exitCode: 1, finishedAt: "1999-12-31T23:57:00Z"}}}
`, "web-0  1/1  Running  4 (3m ago)  120m  10.0.0.7  n1  <none>  <none>"},
	{"crash loop", `
apiVersion: v1
kind: Pod
metadata: {name: bad, creationTimestamp: "1999-12-31T23:59:18Z"}
spec: {nodeName: n1, containers: [{name: a}]}
status:
  phase: Running
  containerStatuses:
  - {name: a, restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, finishedAt: "1999-12-31T23:59:50Z"}}}
`, "bad  0/1  CrashLoopBackOff  2 (10s ago)  42s  <none>  n1  <none>  <none>"},
	{"first of two init containers runs", `
apiVersion: v1
kind: Pod
metadata: {name: slow, creationTimestamp: "1999-12-31T23:59:18Z"}
spec: {nodeName: n1, initContainers: [{name: i}, {name: j}], containers: [{name: a}]}
status:
  phase: Pending
  initContainerStatuses:
  - {name: i, state: {running: {}}}
  - {name: j, state: {waiting: {reason: PodInitializing}}}
  containerStatuses:
  - {name: a, state: {waiting: {reason: PodInitializing}}}
`, "slow  0/1  Init:0/2  0  42s  <none>  n1  <none>  <none>"},
	{"init container failed", `
apiVersion: v1
kind: Pod
metadata: {name: slow, creationTimestamp: "1999-12-31T23:59:18Z"}
spec: {nodeName: n1, initContainers: [{name: i}], containers: [{name: a}]}
status:
  phase: Pending
  initContainerStatuses:
  - {name: i, state: {terminated: {exitCode: 3}}}
`, "slow  0/1  Init:ExitCode:3  0  42s  <none>  n1  <none>  <none>"},
	{"sidecar counts as a container once it started", `
apiVersion: v1
kind: Pod
metadata: {name: side, creationTimestamp: "1999-12-31T23:00:00Z"}
spec: {nodeName: n1, initContainers: [{name: i, restartPolicy: Always}], containers: [{name: a}]}
status:
  phase: Running
  initContainerStatuses:
  - {name: i, ready: true, started: true, state: {running: {}}}
  containerStatuses:
  - {name: a, ready: true, state: {running: {}}}
`, "side  2/2  Running  0  60m  <none>  n1  <none>  <none>"},
	{"waiting for a node", `
apiVersion: v1
kind: Pod
metadata: {name: lone, creationTimestamp: "1999-12-29T00:00:00Z"}
spec: {containers: [{name: a}], schedulingGates: [{name: x}]}
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]
`, "lone  0/1  SchedulingGated  0  3d  <none>  <none>  <none>  <none>"},
	{"completed pod", `
apiVersion: v1
kind: Pod
metadata: {name: done, creationTimestamp: "1999-12-31T00:00:00Z"}
spec: {nodeName: n1, containers: [{name: a}]}
status:
  phase: Succeeded
  containerStatuses: [{name: a, state: {terminated: {reason: Completed}}}]
`, "done  0/1  Completed  0  24h  <none>  n1  <none>  <none>"},
	{"pod on its way out", `
apiVersion: v1
kind: Pod
metadata: {name: bye, creationTimestamp: "1999-12-31T00:00:00Z", deletionTimestamp: "1999-12-31T23:59:59Z"}
spec: {nodeName: n1, containers: [{name: a}]}
status:
  phase: Running
  containerStatuses: [{name: a, ready: true, state: {running: {}}}]
`, "bye  1/1  Terminating  0  24h  <none>  n1  <none>  <none>"},
	{"deployment", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, creationTimestamp: "1999-12-31T23:55:00Z"}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {spec: {containers: [{name: a, image: "nginx:1"}, {name: b, image: redis}]}}
status: {readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1}
`, "web  2/3  3  1  5m  a,b  nginx:1,redis  app=web"},
	{"service", `
apiVersion: v1
kind: Service
metadata: {name: web, creationTimestamp: "1999-12-31T23:55:00Z"}
spec:
  type: NodePort
  clusterIP: 10.96.0.9
  clusterIPs: [10.96.0.9]
  selector: {app: web}
  ports: [{port: 80, nodePort: 30080, protocol: TCP}, {port: 53, protocol: UDP}]
`, "web  NodePort  10.96.0.9  <none>  80:30080/TCP,53/UDP  5m  app=web"},
	{"load balancer without an address yet", `
apiVersion: v1
kind: Service
metadata: {name: web, creationTimestamp: "1999-12-31T23:55:00Z"}
spec: {type: LoadBalancer, clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], ports: [{port: 80, nodePort: 30080, protocol: TCP}]}
`, "web  LoadBalancer  10.96.0.9  <pending>  80:30080/TCP  5m  <none>"},
	{"node", `
apiVersion: v1
kind: Node
metadata:
  name: n1
  creationTimestamp: "1999-12-01T00:00:00Z"
  labels: {node-role.kubernetes.io/control-plane: "", node-role.kubernetes.io/etcd: ""}
spec: {unschedulable: true}
status:
  conditions: [{type: Ready, status: "True"}]
  addresses: [{type: InternalIP, address: 192.168.0.2}]
  nodeInfo: {kubeletVersion: v1.37.2, osImage: Debian, containerRuntimeVersion: "containerd://2"}
`, "n1  Ready,SchedulingDisabled  control-plane,etcd  31d  v1.37.2  192.168.0.2  <none>  Debian  <unknown>  containerd://2"},
	{"endpoints", `
apiVersion: v1
kind: Endpoints
metadata: {name: web, creationTimestamp: "1999-12-31T23:55:00Z"}
subsets: [{addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}, {ip: 10.0.0.3}, {ip: 10.0.0.4}], ports: [{port: 80}]}]
`, "web  10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 1 more...  5m"},
	{"job that finished", `
apiVersion: batch/v1
kind: Job
metadata: {name: once, creationTimestamp: "1999-12-31T23:55:00Z"}
spec: {completions: 1, selector: {matchLabels: {a: b}}, template: {spec: {containers: [{name: a, image: x}]}}}
status:
  succeeded: 1
  startTime: "1999-12-31T23:55:00Z"
  completionTime: "1999-12-31T23:55:42Z"
  conditions: [{type: Complete, status: "True"}]
`, "once  Complete  1/1  42s  5m  a  x  a=b"},
	{"secret", `
apiVersion: v1
kind: Secret
metadata: {name: s, creationTimestamp: "1999-12-31T23:55:00Z"}
type: Opaque
data: {a: eA==, b: eA==}
`, "s  Opaque  2  5m"},
	{"bound claim", `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, creationTimestamp: "1999-12-31T23:55:00Z"}
spec: {volumeName: pv1, storageClassName: fast, volumeMode: Filesystem}
status: {phase: Bound, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce, ReadWriteMany]}
`, "data  Bound  pv1  1Gi  RWO,RWX  fast  <unset>  5m  Filesystem"},
	{"autoscaler by the processor", `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, creationTimestamp: "1999-12-31T23:55:00Z"}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
status:
  currentReplicas: 2
  desiredReplicas: 2
  currentMetrics: [{type: Resource, resource: {name: cpu, current: {averageUtilization: 12, averageValue: 12m}}}]
`, "web  Deployment/web  cpu: 12%/80%  1  9  2  5m"},
	{"namespace", `
apiVersion: v1
kind: Namespace
metadata: {name: default, creationTimestamp: "1999-12-31T23:55:00Z"}
status: {phase: Active}
`, "default  Active  5m"},
}

func TestRowsReadAsKubectlShowsThem(t *testing.T) {
	for _, tt := range rowTests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := wide(t, tt.object); got != tt.want {
					t.Errorf("row\n\t%s\nwant\n\t%s", got, tt.want)
				}
			})
		})
	}
}
