package builtin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The defaults that kube-apiserver sets in minimal objects.
var defaultTests = []struct{ object, want string }{
	{`
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: a
    image: nginx
    ports: [{containerPort: 80}]
    livenessProbe: {httpGet: {port: 80}}
    resources: {limits: {cpu: 100m}}
    env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
  - {name: b, image: "nginx:1.2"}
  volumes: [{name: c, configMap: {name: c}}, {name: e}, {name: p, projected: {sources: [{serviceAccountToken: {path: t}}]}}]
`, `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: a
    image: nginx
    imagePullPolicy: Always
    ports: [{containerPort: 80, protocol: TCP}]
    livenessProbe:
      httpGet: {path: /, port: 80, scheme: HTTP}
      timeoutSeconds: 1
      periodSeconds: 10
      successThreshold: 1
      failureThreshold: 3
    resources: {limits: {cpu: 100m}, requests: {cpu: 100m}}
    env: [{name: IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}]
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
  - name: b
    image: nginx:1.2
    imagePullPolicy: IfNotPresent
    resources: {}
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  terminationGracePeriodSeconds: 30
  volumes:
  - {name: c, configMap: {name: c, defaultMode: 420}}
  - {name: e, emptyDir: {}}
  - {name: p, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}]}}
status: {}
`},
	{`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: "x:1"}]}}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  progressDeadlineSeconds: 600
  replicas: 1
  revisionHistoryLimit: 10
  selector: {matchLabels: {a: b}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: a
        image: x:1
        imagePullPolicy: IfNotPresent
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status: {}
`},
	{`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {a: b}, ports: [{port: 80}]}
`, `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  internalTrafficPolicy: Cluster
  ports: [{port: 80, protocol: TCP, targetPort: 80}]
  selector: {a: b}
  sessionAffinity: None
  type: ClusterIP
status: {loadBalancer: {}}
`},
	{`
apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never}}}}}
`, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: c}
spec:
  concurrencyPolicy: Allow
  failedJobsHistoryLimit: 1
  jobTemplate:
    spec:
      template:
        spec:
          containers: null
          dnsPolicy: ClusterFirst
          restartPolicy: Never
          schedulerName: default-scheduler
          securityContext: {}
          terminationGracePeriodSeconds: 30
  schedule: "* * * * *"
  successfulJobsHistoryLimit: 3
  suspend: false
status: {}
`},
	{`
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {a: eA==}
stringData: {b: "y"}
`, `
apiVersion: v1
kind: Secret
metadata: {name: s}
type: Opaque
data: {a: eA==, b: eQ==}
`},
	{`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: Filesystem}
status: {phase: Pending}
`},
	{`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: r}
roleRef: {kind: Role, name: r}
subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: n}]
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: r}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}, {kind: ServiceAccount, name: s, namespace: n}]
`},
	{`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: x.example
`, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: x.example
reclaimPolicy: Delete
volumeBindingMode: Immediate
`},
	{`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: 5}
`, `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h}
spec:
  scaleTargetRef: {kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
status: {currentMetrics: null, desiredReplicas: 0}
`},
	{`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- {name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: s, namespace: n}}, rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [pods]}]}
`, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- name: a.b.c
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: s, namespace: n, port: 443}}
  failurePolicy: Fail
  matchPolicy: Equivalent
  namespaceSelector: {}
  objectSelector: {}
  timeoutSeconds: 10
  rules: [{operations: ["*"], apiGroups: [""], apiVersions: [v1], resources: [pods], scope: "*"}]
`},
}

func TestDefaultsAreThoseOfKubernetes(t *testing.T) {
	for _, tt := range defaultTests {
		r, got := defaulted(t, tt.object)
		t.Run(r.Kind, func(t *testing.T) {
			_, want := object(t, tt.want)
			if d := cmp.Diff(asJSON(t, want), asJSON(t, got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}
