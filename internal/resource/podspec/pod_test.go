package podspec_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  terminationGracePeriodSeconds: 5
  containers: [{name: a, image: nginx}]
`

func TestPodSpec(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), pod)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no containers", "spec.containers: []",
			"spec.containers: Required value"},
		{"unknown restart policy", "spec.restartPolicy: Sometimes",
			`spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`},
		{"unknown DNS policy", "spec.dnsPolicy: Some",
			`spec.dnsPolicy: Unsupported value: "Some": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`},
		{"negative grace period", "spec.terminationGracePeriodSeconds: -1"},
		{"no deadline", "spec.activeDeadlineSeconds: 0",
			"spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"},
		{"deadline too late", "spec.activeDeadlineSeconds: 2147483648",
			"spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive"},
		{"node name", "spec.nodeName: Node_1",
			`spec.nodeName: Invalid value: "Node_1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"node selector", "spec.nodeSelector: {'a b': c, d: 'e f'}",
			`spec.nodeSelector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`,
			`spec.nodeSelector: Invalid value: "e f": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and`},
		{"service account", "spec.serviceAccountName: A_B",
			`spec.serviceAccountName: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or`},
		{"host name", "spec.hostname: a.b",
			`spec.hostname: Invalid value: "a.b": must not contain dots`},
		{"subdomain", "spec.subdomain: a.b",
			`spec.subdomain: Invalid value: "a.b": must not contain dots`},
		{"priority class", "spec.priorityClassName: A_B",
			`spec.priorityClassName: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or`},
		{"runtime class", "spec.runtimeClassName: A_B",
			`spec.runtimeClassName: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"unknown preemption policy", "spec.preemptionPolicy: Maybe",
			`spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"`},
		{"unknown OS", "spec.os: {name: plan9}",
			`spec.os: Unsupported value: "plan9": supported values: "linux", "windows"`},
		{"OS without a name", "spec.os: {name: ''}",
			"spec.os.name: Required value"},
		{"pull secret without a name", "spec.imagePullSecrets: [{name: ''}]"},
		{"negative overhead", "spec.overhead: {cpu: -1}",
			`spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		{"name as a path", "metadata.name: a/b",
			`metadata.name: Invalid value: "a/b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
	})
	k.Create(t, []resourcetest.Case{
		{"no DNS servers for policy None", "spec.dnsPolicy: None",
			"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
		{"DNS config", "spec.dnsConfig: {nameservers: [10.0.0.1], searches: [example.com., a_b.example.com], options: [{name: ndots, value: '2'}]}"},
		{"too many DNS servers", "spec.dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]}",
			`spec.dnsConfig.nameservers: Invalid value: ["10.0.0.1","10.0.0.2","10.0.0.3","10.0.0.4"]: must not have more than 3 nameservers`},
		{"DNS server not an address", "spec.dnsConfig: {nameservers: [dns.example.com]}",
			`spec.dnsConfig.nameservers[0]: Invalid value: "dns.example.com": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"DNS search domain", "spec.dnsConfig: {searches: ['-a']}",
			`spec.dnsConfig.searches[0]: Invalid value: "-a": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_',`},
		{"DNS option without a name", "spec.dnsConfig: {options: [{value: a}]}",
			"spec.dnsConfig.options[0]: Required value: must not be empty"},
		{"host alias", "spec.hostAliases: [{ip: 10.0.0.1, hostnames: [a.example.com]}]"},
		{"host alias of no address", "spec.hostAliases: [{ip: here, hostnames: [A_B]}]",
			`spec.hostAliases[0].hostnames[0]: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,`,
			`spec.hostAliases[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"host alias without an address", "spec.hostAliases: [{hostnames: [a]}]",
			`spec.hostAliases[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"readiness gate", "spec.readinessGates: [{conditionType: example.com/ready}, {conditionType: 'a b'}]",
			`spec.readinessGates[1].conditionType: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must`},
		{"scheduling gates", "spec.schedulingGates: [{name: example.com/a}, {name: example.com/b}]"},
		{"scheduling gate twice", "spec.schedulingGates: [{name: example.com/a}, {name: example.com/a}]",
			`spec.schedulingGates[1]: Duplicate value: "example.com/a"`},
		{"malformed scheduling gate", "spec.schedulingGates: [{name: 'a b'}]",
			`spec.schedulingGates[0]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"gated and assigned", "spec.schedulingGates: [{name: example.com/a}]\nspec.nodeName: n1",
			"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"},
		{"users without an OS", "spec.hostUsers: false\nspec.hostNetwork: true",
			"spec.hostNetwork: Forbidden: when `hostUsers` is false"},
		{"claim without a name", "spec.resourceClaims: [{resourceClaimName: c}]",
			"spec.resourceClaims[0].name: Required value"},
		{"claim of nothing", "spec.resourceClaims: [{name: c}]",
			"spec.resourceClaims[0]: Invalid value: {\"name\":\"c\"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"},
		{"claim of both", "spec.resourceClaims: [{name: c, resourceClaimName: a, resourceClaimTemplateName: b}]",
			`spec.resourceClaims[0]: Invalid value: {"name":"c","resourceClaimName":"a","resourceClaimTemplateName":"b"}: at most one of`},
		{"claim twice", "spec.resourceClaims: [{name: c, resourceClaimName: a}, {name: c, resourceClaimName: a}]",
			`spec.resourceClaims[1].name: Duplicate value: "c"`},
		{"use of no claim", "spec.containers[0].resources.claims: [{name: c}]",
			`spec.containers[0].resources.claims[0]: Not found: "c": must be one of the names in pod.spec.resourceClaims which is empty`},
		{"use of a claim", "spec.resourceClaims: [{name: c, resourceClaimName: a}]\nspec.containers[0].resources.claims: [{name: c}]"},
		{"use of a claim twice", "spec.resourceClaims: [{name: c, resourceClaimName: a}]\nspec.containers[0].resources.claims: [{name: c}, {name: c}]",
			`spec.containers[0].resources.claims[1]: Duplicate value: "c"`},
	})
}

func TestScheduling(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), pod)
	k.Create(t, []resourcetest.Case{
		{"toleration of everything", "spec.tolerations: [{operator: Exists}]"},
		{"toleration without key", "spec.tolerations: [{operator: Equal, value: a}]",
			"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""},
		{"toleration of a malformed key", "spec.tolerations: [{key: 'a b', operator: Exists}]",
			`spec.tolerations[0].key: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"toleration with a value of Exists", "spec.tolerations: [{key: a, operator: Exists, value: b}]",
			"spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"},
		{"toleration of an unknown operator", "spec.tolerations: [{key: a, operator: Is}]",
			`spec.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"`},
		{"toleration of an unknown effect", "spec.tolerations: [{key: a, operator: Exists, effect: Kill}]",
			`spec.tolerations[0].effect: Unsupported value: "Kill": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		{"toleration seconds of another effect", "spec.tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 3}]",
			"spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"},
		{"toleration of a malformed value", "spec.tolerations: [{key: a, value: 'b c', effect: NoExecute}]",
			`spec.tolerations[0].operator: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_'`},
		{"topology spread", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]"},
		{"spread without skew, key and action", "spec.topologySpreadConstraints: [{maxSkew: 0, topologyKey: '', whenUnsatisfiable: ''}]",
			"spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
			"spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
			`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"`},
		{"spread of an unknown action", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Wait}]",
			`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"`},
		{"spread over no domains", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 0}]",
			"spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero"},
		{"minimal domains of a preference", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
			"spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"},
		{"spread twice", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
			`spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"`},
		{"unknown node policies of a spread", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Some, nodeTaintsPolicy: Some}]",
			`spec.topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "Some": supported values: "Honor", "Ignore"`,
			`spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Some": supported values: "Honor", "Ignore"`},
		{"label keys of a spread without selector", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]",
			"spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"},
		{"label key in the selector too", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a], labelSelector: {matchExpressions: [{key: a, operator: Exists}]}}]"},
		{"malformed selector of a spread", "spec.topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]",
			"spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
	})
	k.Create(t, []resourcetest.Case{
		{"node affinity", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['1']}], matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}"},
		{"no terms", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term"},
		{"operator In without values", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value:"},
		{"operator Exists with values", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may"},
		{"operator Gt with two values", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]}]}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value:"},
		{"unknown operator", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Like, values: [b]}]}]}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value:"},
		{"malformed key", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: 'a b', operator: Exists}]}]}}",
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a`},
		{"unknown field", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: spec.x, operator: In, values: [n1]}]}]}}",
			`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "spec.x":`},
		{"two values of a field", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}]}}",
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values: Required value: must"},
		{"weight of a preference", "spec.affinity.nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}",
			"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100"},
		{"pod affinity", "spec.affinity.podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}"},
		{"pod affinity without key", "spec.affinity.podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]}",
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty`,
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must consist of`,
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty"},
		{"malformed topology key", "spec.affinity.podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: 'a b', labelSelector: {matchLabels: {a: b}}}]}",
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "a b": name part must consist`},
		{"malformed namespace", "spec.affinity.podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaces: [A_B], labelSelector: {matchLabels: {a: b}}}]}",
			`spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A_B": a lowercase RFC 1123 label`},
		{"weight of a pod preference", "spec.affinity.podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: zone}}]}",
			"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100"},
		{"label keys without selector", "spec.affinity.podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, matchLabelKeys: [a]}]}",
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when"},
		{"label keys that match and mismatch", "spec.affinity.podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, matchLabelKeys: [a], mismatchLabelKeys: [a], labelSelector: {matchLabels: {b: c}}}]}",
			`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: Invalid value: "a": exists in both`},
	})
}

func TestPodUpdate(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), pod)
	k.Update(t, []resourcetest.Case{
		{"nothing", ""},
		{"image", "spec.containers[0].image: redis"},
		{"no image", "spec.containers[0].image: ''",
			"spec.containers[0].image: Required value",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"image with space", "spec.containers[0].image: ' redis'",
			`spec.containers[0].image: Invalid value: " redis": must not have leading or trailing whitespace`,
			"spec: Forbidden: pod updates may not change fields other than"},
		{"container more", "spec.containers[1]: {name: b, image: x}",
			"spec.containers: Forbidden: pod updates may not add or remove containers"},
		{"deadline set", "spec.activeDeadlineSeconds: 5"},
		{"toleration more", "spec.tolerations: [{key: a, operator: Exists}]"},
		{"malformed toleration", "spec.tolerations: [{key: a, operator: Is}]",
			`spec.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"`},
		{"grace period", "spec.terminationGracePeriodSeconds: 6",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"node", "spec.nodeName: n1",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"command", "spec.containers[0].command: [a]",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"resources", "spec.containers[0].resources: {limits: {cpu: 1}}",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"gate more", "spec.schedulingGates: [{name: example.com/a}]",
			"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'example.com/a'"},
		{"ephemeral container", "spec.ephemeralContainers: [{name: b, image: x}]",
			"spec: Forbidden: pod updates may not change fields other than"},
		{"labels", "metadata.labels: {a: b}"},
	})
}

const gated = `
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: default}
spec:
  activeDeadlineSeconds: 9
  nodeSelector: {a: b}
  schedulingGates: [{name: example.com/a}, {name: example.com/b}]
  tolerations: [{key: a, operator: Exists}]
  containers: [{name: a, image: nginx}]
`

func TestGatedPodUpdate(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), gated)
	k.Update(t, []resourcetest.Case{
		{"gate less", "spec.schedulingGates[0]: ~"},
		{"gate renamed", "spec.schedulingGates[0].name: example.com/c",
			"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'example.com/c'"},
		{"node selector more", "spec.nodeSelector: {a: b, c: d}"},
		{"node selector less", "spec.nodeSelector: {c: d}",
			`spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`},
		{"affinity", "spec.affinity.nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}"},
		{"shorter deadline", "spec.activeDeadlineSeconds: 8"},
		{"longer deadline", "spec.activeDeadlineSeconds: 10",
			"spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value"},
		{"no deadline", "spec.activeDeadlineSeconds: ~",
			"spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"},
		{"toleration gone", "spec.tolerations: ~",
			"spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"},
	})
}

func TestPodDefaults(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), pod)
	k.Defaults(t, []resourcetest.Case{
		{"policies", "", "spec.restartPolicy: Always", "spec.dnsPolicy: ClusterFirst", "spec.schedulerName: default-scheduler", "spec.enableServiceLinks: true", "spec.securityContext: {}"},
		{"grace period", "spec.terminationGracePeriodSeconds: ~", "spec.terminationGracePeriodSeconds: 30"},
		{"image without a tag", "", "spec.containers[0].imagePullPolicy: Always"},
		{"image with a tag", "spec.containers[0].image: nginx:1", "spec.containers[0].imagePullPolicy: IfNotPresent"},
		{"latest", "spec.containers[0].image: nginx:latest", "spec.containers[0].imagePullPolicy: Always"},
		{"digest", "spec.containers[0].image: nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "spec.containers[0].imagePullPolicy: IfNotPresent"},
		{"termination message", "", "spec.containers[0].terminationMessagePath: /dev/termination-log", "spec.containers[0].terminationMessagePolicy: File"},
		{"requests from limits", "spec.containers[0].resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}", "spec.containers[0].resources.requests: {cpu: '1', memory: 1Gi}"},
		{"host ports", "spec.hostNetwork: true\nspec.containers[0].ports: [{containerPort: 80}]", "spec.containers[0].ports[0]: {containerPort: 80, hostPort: 80, protocol: TCP}"},
		{"probe", "spec.containers[0].readinessProbe: {httpGet: {port: 80}}",
			"spec.containers[0].readinessProbe: {httpGet: {path: /, port: 80, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}"},
		{"gRPC probe", "spec.containers[0].livenessProbe: {grpc: {port: 80}}", "spec.containers[0].livenessProbe.grpc.service: ''"},
		{"field of the pod", "spec.containers[0].env: [{name: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "spec.containers[0].env[0].valueFrom.fieldRef.apiVersion: v1"},
		{"empty volume", "spec.volumes: [{name: v}]", "spec.volumes[0]: {name: v, emptyDir: {}}"},
		{"modes of volumes", "spec.volumes: [{name: a, secret: {secretName: a}}, {name: b, configMap: {name: b}}, {name: c, downwardAPI: {}}, {name: d, projected: {sources: []}}]",
			"spec.volumes[0].secret.defaultMode: 420", "spec.volumes[1].configMap.defaultMode: 420", "spec.volumes[2].downwardAPI.defaultMode: 420", "spec.volumes[3].projected.defaultMode: 420"},
		{"host path", "spec.volumes: [{name: v, hostPath: {path: /v}}]", "spec.volumes[0].hostPath.type: ''"},
		{"iSCSI", "spec.volumes: [{name: v, iscsi: {targetPortal: a, iqn: b, lun: 0}}]", "spec.volumes[0].iscsi.iscsiInterface: default"},
		{"RBD", "spec.volumes: [{name: v, rbd: {monitors: [a], image: b}}]", "spec.volumes[0].rbd.pool: rbd", "spec.volumes[0].rbd.user: admin", "spec.volumes[0].rbd.keyring: /etc/ceph/keyring"},
		{"Azure disk", "spec.volumes: [{name: v, azureDisk: {diskName: a, diskURI: b}}]", "spec.volumes[0].azureDisk: {diskName: a, diskURI: b, cachingMode: ReadWrite, fsType: ext4, kind: Shared, readOnly: false}"},
		{"ScaleIO", "spec.volumes: [{name: v, scaleIO: {gateway: a, system: b, secretRef: {name: c}, volumeName: d}}]", "spec.volumes[0].scaleIO.storageMode: ThinProvisioned", "spec.volumes[0].scaleIO.fsType: xfs"},
		{"token", "spec.volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]", "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: 3600"},
		{"ephemeral claim", "spec.volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]", "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.volumeMode: Filesystem"},
	})
	k.Created(t, []resourcetest.Case{
		{"best effort", "", "status: {phase: Pending, qosClass: BestEffort}"},
		{"burstable", "spec.containers[0].resources: {requests: {cpu: 1}}", "status.qosClass: Burstable"},
		{"guaranteed", "spec.containers[0].resources: {limits: {cpu: 1, memory: 1Gi}}", "status.qosClass: Guaranteed"},
		{"limits above requests", "spec.containers[0].resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", "status.qosClass: Burstable"},
		{"generation", "metadata.generation: 5", "metadata.generation: 1"},
	})
	k.Updated(t, []resourcetest.Case{
		{"image", "spec.containers[0].image: redis", "metadata.generation: 2"},
		{"labels", "metadata.labels: {a: b}", "metadata.generation: 1"},
		{"status", "status.phase: Running", "status.phase: Pending"},
	})
}
