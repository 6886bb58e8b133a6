package core_test

import (
	"testing"

	"fairlead.dev/internal/resource/core"
	"fairlead.dev/internal/resource/resourcetest"
)

const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  clusterIP: 10.0.0.9
  clusterIPs: [10.0.0.9]
  selector: {app: web}
  ports: [{port: 80}]
`

func TestService(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), service)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name not a label", "metadata.name: a.b",
			`metadata.name: Invalid value: "a.b": must not contain dots`},
		{"no ports", "spec.ports: ~",
			"spec.ports: Required value"},
		{"no ports without an IP", "spec.ports: ~\nspec.clusterIP: None\nspec.clusterIPs: [None]"},
		{"port out of range", "spec.ports[0].port: 65536\nspec.ports[0].targetPort: 80",
			"spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive"},
		{"target port", "spec.ports[0].targetPort: A_",
			`spec.ports[0].targetPort: Invalid value: "A_": must contain at least one letter (a-z)`,
			`spec.ports[0].targetPort: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`},
		{"unknown protocol", "spec.ports[0].protocol: ICMP",
			`spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`},
		{"ports without names", "spec.ports[1]: {port: 81}",
			"spec.ports[0].name: Required value",
			"spec.ports[1].name: Required value"},
		{"port name twice", "spec.ports: [{name: a, port: 80}, {name: a, port: 81}]",
			`spec.ports[1].name: Duplicate value: "a"`},
		{"malformed port name", "spec.ports[0].name: A_",
			`spec.ports[0].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must`},
		{"port twice", "spec.ports: [{name: a, port: 80}, {name: b, port: 80}]",
			`spec.ports[1]: Duplicate value: {"protocol":"TCP","port":80,"targetPort":0}`},
		{"node port of a cluster IP", "spec.ports[0].nodePort: 30080",
			"spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
		{"node port twice", "spec.type: NodePort\nspec.ports: [{name: a, port: 80, nodePort: 30080}, {name: b, port: 81, nodePort: 30080}]",
			"spec.ports[1].nodePort: Duplicate value: 30080"},
		{"unknown app protocol", "spec.ports[0].appProtocol: 'a b'",
			`spec.ports[0].appProtocol: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"unknown type", "spec.type: Some",
			`spec.type: Unsupported value: "Some": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"`},
		{"unknown affinity", "spec.sessionAffinity: Some",
			`spec.sessionAffinity: Unsupported value: "Some": supported values: "ClientIP", "None"`},
		{"affinity without timeout", "spec.sessionAffinity: ClientIP\nspec.sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}",
			"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400"},
		{"config without affinity", "spec.sessionAffinityConfig: {clientIP: {timeoutSeconds: 1}}"},
		{"malformed selector", "spec.selector: {'a b': 'c d'}",
			`spec.selector: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`,
			`spec.selector: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must`},
		{"IP", "spec.clusterIP: a\nspec.clusterIPs: [a]",
			`spec.clusterIPs[0]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"IP and no IPs", "spec.clusterIPs: ~"},
		{"different IPs", "spec.clusterIPs: [10.0.0.8]",
			"spec.clusterIPs: Invalid value: [\"10.0.0.8\"]: first value must match `clusterIP`"},
		{"three IPs", "spec.ipFamilyPolicy: RequireDualStack\nspec.clusterIPs: [10.0.0.9, 'fd00::9', 10.0.0.10]",
			`spec.clusterIPs: Invalid value: ["10.0.0.9","fd00::9","10.0.0.10"]: may only hold up to 2 values`},
		{"two IPs of a family", "spec.ipFamilyPolicy: RequireDualStack\nspec.clusterIPs: [10.0.0.9, 10.0.0.10]",
			`spec.clusterIPs: Invalid value: ["10.0.0.9","10.0.0.10"]: may specify no more than one IP for each IP family`},
		{"None and an IP", "spec.clusterIP: None\nspec.clusterIPs: [None, 10.0.0.9]",
			`spec.clusterIPs: Invalid value: ["None","10.0.0.9"]: 'None' must be the first and only value`},
		{"unknown family", "spec.ipFamilies: [IPv5]",
			`spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"`},
		{"family twice", "spec.ipFamilies: [IPv4, IPv4]",
			`spec.ipFamilies[1]: Duplicate value: "IPv4"`},
		{"unknown family policy", "spec.ipFamilyPolicy: Some",
			`spec.ipFamilyPolicy: Unsupported value: "Some": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"`},
		{"other family", "spec.ipFamilies: [IPv6]",
			"spec.clusterIPs[0]: Invalid value: \"10.0.0.9\": expected an IPv6 value as indicated by `ipFamilies[0]`"},
		{"external IPs", "spec.externalIPs: [192.0.2.1, 127.0.0.1, here]",
			`spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
			`spec.externalIPs[2]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"unknown traffic policies", "spec.internalTrafficPolicy: Some\nspec.trafficDistribution: Some",
			`spec.internalTrafficPolicy: Unsupported value: "Some": supported values: "Cluster", "Local"`,
			`spec.trafficDistribution: Unsupported value: "Some": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"`},
		{"external policy of a cluster IP", "spec.externalTrafficPolicy: Local",
			`spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`},
		{"unknown external policy", "spec.type: NodePort\nspec.externalTrafficPolicy: Some",
			`spec.externalTrafficPolicy: Unsupported value: "Some": supported values: "Cluster", "Local"`},
		{"health check of a node port", "spec.type: NodePort\nspec.healthCheckNodePort: 30000",
			"spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
		{"no node ports of a node port service", "spec.type: NodePort\nspec.allocateLoadBalancerNodePorts: false",
			"spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		{"load balancer class", "spec.type: LoadBalancer\nspec.loadBalancerClass: 'a b'",
			`spec.loadBalancerClass: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end`},
		{"load balancer class of a cluster IP", "spec.loadBalancerClass: example.com/a",
			"spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		{"source ranges of a cluster IP", "spec.loadBalancerSourceRanges: [10.0.0.0/8]",
			"spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"},
		{"malformed source range", "spec.type: LoadBalancer\nspec.loadBalancerSourceRanges: [a]",
			`spec.LoadBalancerSourceRanges[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
	})
	k.Update(t, []resourcetest.Case{
		{"nothing", ""},
		{"port", "spec.ports[0].port: 81"},
		{"IP", "spec.clusterIP: 10.0.0.10\nspec.clusterIPs: [10.0.0.10]",
			`spec.clusterIPs[0]: Invalid value: ["10.0.0.10"]: may not change once set`},
		{"no ports", "spec.ports: ~",
			"spec.ports: Required value"},
		{"type", "spec.type: NodePort"},
		{"name of another", "metadata.labels: {'a b': c}",
			`metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an`},
	})
	k.Defaults(t, []resourcetest.Case{
		{"cluster IP", "", "spec.type: ClusterIP", "spec.sessionAffinity: None", "spec.internalTrafficPolicy: Cluster", "spec.externalTrafficPolicy: ~"},
		{"ports", "", "spec.ports[0]: {port: 80, targetPort: 80, protocol: TCP}"},
		{"affinity", "spec.sessionAffinity: ClientIP", "spec.sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}"},
		{"node port", "spec.type: NodePort", "spec.externalTrafficPolicy: Cluster"},
		{"load balancer", "spec.type: LoadBalancer", "spec.externalTrafficPolicy: Cluster", "spec.allocateLoadBalancerNodePorts: true"},
		{"external IPs", "spec.externalIPs: [192.0.2.1]", "spec.externalTrafficPolicy: Cluster"},
	})
	k.Rows(t, []resourcetest.Case{
		{"cluster IP", "spec.type: ClusterIP", "web  ClusterIP  10.0.0.9  <none>  80/  <unknown>  app=web"},
		{"node port", "spec.type: NodePort\nspec.ports[0].nodePort: 30080\nspec.ports[0].protocol: TCP", "web  NodePort  10.0.0.9  <none>  80:30080/TCP  <unknown>  app=web"},
		{"load balancer", "spec.type: LoadBalancer\nstatus.loadBalancer.ingress: [{ip: 192.0.2.1}, {hostname: a}]", "web  LoadBalancer  10.0.0.9  192.0.2.1,a  80/  <unknown>  app=web"},
		{"external name", "spec: {type: ExternalName, externalName: example.com}", "web  ExternalName  <none>  example.com  <none>  <unknown>  <none>"},
	})
}

const externalName = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {type: ExternalName, externalName: example.com}
`

func TestExternalName(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), externalName)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"final dot", "spec.externalName: example.com."},
		{"no name", "spec.externalName: ~",
			"spec.externalName: Required value"},
		{"malformed name", "spec.externalName: A_B",
			`spec.externalName: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and`},
		{"an address of its own", "spec.clusterIP: 10.0.0.9\nspec.clusterIPs: [10.0.0.9]",
			"spec.clusterIPs: Forbidden: may not be set for ExternalName services"},
		{"families", "spec.ipFamilies: [IPv4]\nspec.ipFamilyPolicy: SingleStack",
			"spec.ipFamilies: Forbidden: may not be set for ExternalName services",
			"spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services"},
	})
}

const endpoints = `
apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: default}
subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]
`

func TestEndpoints(t *testing.T) {
	k := resourcetest.New(t, core.Resources(), endpoints)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no addresses", "subsets[0].addresses: ~",
			"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"},
		{"malformed address", "subsets[0].addresses: [{ip: here}]",
			`subsets[0].addresses[0].ip: Invalid value: "here": must be a valid IP address`,
			`subsets[0].addresses[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"loopback", "subsets[0].addresses: [{ip: 127.0.0.1}]",
			`subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
		{"link-local", "subsets[0].addresses: [{ip: 169.254.0.1}]",
			`subsets[0].addresses[0].ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)`},
		{"unspecified", "subsets[0].addresses: [{ip: 0.0.0.0}]",
			`subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)`},
		{"multicast", "subsets[0].notReadyAddresses: [{ip: 224.0.0.1}]",
			`subsets[0].notReadyAddresses[0].ip: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`},
		{"host name", "subsets[0].addresses: [{ip: 10.0.0.1, hostname: a.b}]",
			`subsets[0].addresses[0].hostname: Invalid value: "a.b": must not contain dots`},
		{"node name", "subsets[0].addresses: [{ip: 10.0.0.1, nodeName: A_}]",
			`subsets[0].addresses[0].nodeName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,`},
		{"port out of range", "subsets[0].ports[0].port: 0",
			"subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"},
		{"ports without names", "subsets[0].ports[1]: {port: 81}",
			"subsets[0].ports[0].name: Required value",
			"subsets[0].ports[1].name: Required value"},
		{"malformed port name", "subsets[0].ports[0].name: A_",
			`subsets[0].ports[0].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and`},
		{"unknown protocol", "subsets[0].ports[0].protocol: ICMP",
			`subsets[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`},
		{"malformed app protocol", "subsets[0].ports[0].appProtocol: 'a b'",
			`subsets[0].ports[0].appProtocol: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start`},
	})
	k.Defaults(t, []resourcetest.Case{{"protocol", "", "subsets[0].ports[0].protocol: TCP"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "web  10.0.0.1:80  <unknown>"},
		{"none", "subsets: ~", "web  <none>  <unknown>"},
	})
}
