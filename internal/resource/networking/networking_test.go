package networking_test

import (
	"testing"

	"fairlead.dev/internal/resource/networking"
	"fairlead.dev/internal/resource/resourcetest"
)

const ingress = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: default}
spec:
  ingressClassName: nginx
  tls: [{hosts: [a.example.com], secretName: cert}]
  rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}
`

func TestIngress(t *testing.T) {
	k := resourcetest.New(t, networking.Resources(), ingress)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"neither rules nor backend", "spec: {}",
			"spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"},
		{"class", "spec.ingressClassName: A_",
			`spec.ingressClassName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"class and annotation", "metadata.annotations: {kubernetes.io/ingress.class: a}",
			"annotations.kubernetes.io/ingress.class: Invalid value: \"a\": must match `ingressClassName` when both are specified"},
		{"host", "spec.rules[0].host: A_B",
			`spec.rules[0].host: Invalid value: "A_B": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"address as a host", "spec.rules[0].host: 10.0.0.1",
			`spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`},
		{"wildcard", "spec.rules[0].host: '*.example.com'"},
		{"wildcard within", "spec.rules[0].host: 'a.*.example.com'",
			`spec.rules[0].host: Invalid value: "a.*.example.com": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS`},
		{"host of a certificate", "spec.tls[0].hosts: [A_]",
			`spec.tls[0].hosts[0]: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"secret", "spec.tls[0].secretName: A_",
			`spec.tls[0].secretName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"no paths", "spec.rules[0].http.paths: []",
			"spec.rules[0].http.paths: Required value"},
		{"no path type", "spec.rules[0].http.paths[0].pathType: ~",
			"spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"},
		{"unknown path type", "spec.rules[0].http.paths[0].pathType: Regex",
			`spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`},
		{"relative path", "spec.rules[0].http.paths[0].path: a",
			`spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path`},
		{"path with backsteps", "spec.rules[0].http.paths[0].path: /a/../b",
			`spec.rules[0].http.paths[0].path: Invalid value: "/a/../b": must not contain '/../'`},
		{"path with an escaped slash", "spec.rules[0].http.paths[0].path: /a%2fb",
			`spec.rules[0].http.paths[0].path: Invalid value: "/a%2fb": must not contain '%2f'`},
		{"implementation's path", "spec.rules[0].http.paths[0]: {path: a, pathType: ImplementationSpecific, backend: {service: {name: a, port: {number: 80}}}}",
			`spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path`},
		{"no backend", "spec.rules[0].http.paths[0].backend: {}",
			`spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required`},
		{"backend of both", "spec.rules[0].http.paths[0].backend.resource: {kind: A, name: b}",
			`spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both resource and service backends`},
		{"service without a name", "spec.rules[0].http.paths[0].backend.service.name: ''",
			"spec.rules[0].http.paths[0].backend.service.name: Required value"},
		{"service name", "spec.rules[0].http.paths[0].backend.service.name: a.b",
			`spec.rules[0].http.paths[0].backend.service.name: Invalid value: "a.b": must not contain dots`},
		{"no port", "spec.rules[0].http.paths[0].backend.service.port: {}",
			"spec.rules[0].http.paths[0].backend: Required value: port name or number is required"},
		{"port by number and name", "spec.rules[0].http.paths[0].backend.service.port: {number: 80, name: a}",
			`spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both port name & port number`},
		{"port out of range", "spec.rules[0].http.paths[0].backend.service.port: {number: 65536}",
			"spec.rules[0].http.paths[0].backend.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive"},
		{"port name", "spec.rules[0].http.paths[0].backend.service.port: {name: A_}",
			`spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "A_": must contain at least one letter (a-z)`,
			`spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`},
		{"default backend", "spec: {defaultBackend: {service: {name: a, port: {name: http}}}}"},
	})
	k.Update(t, []resourcetest.Case{
		{"backend", "spec.rules[0].http.paths[0].backend.service.name: other"},
		{"relative path", "spec.rules[0].http.paths[0].path: a",
			`spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path`},
	})
	k.Status(t, []resourcetest.Case{
		{"nothing", ""},
		{"address", "status.loadBalancer.ingress[0].ip: here",
			`status.loadBalancer.ingress[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"host name", "status.loadBalancer.ingress[0]: {hostname: A_}",
			`status.loadBalancer.ingress[0].hostname: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric`},
		{"address as a host name", "status.loadBalancer.ingress[0]: {hostname: 10.0.0.1}",
			`status.loadBalancer.ingress[0].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`},
	})
	k.Created(t, []resourcetest.Case{{"no status", "", "status: {loadBalancer: {}}", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"class", "spec.ingressClassName: a", "metadata.generation: 2"}, {"labels", "metadata.labels: {a: b}", "metadata.generation: 1"}})
	k.Reported(t, []resourcetest.Case{{"spec", "spec.ingressClassName: a", "spec.ingressClassName: nginx"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "web  nginx  a.example.com  192.0.2.1  80, 443  <unknown>"},
		{"no hosts", "spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}\nstatus: {}", "web  <none>  *    80  <unknown>"},
	})
}

const class = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: example.com/nginx, parameters: {apiGroup: example.com, kind: Config, name: a, scope: Namespace, namespace: b}}
`

func TestIngressClass(t *testing.T) {
	k := resourcetest.New(t, networking.Resources(), class)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"controller", "spec.controller: nginx",
			`spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")`},
		{"no controller", "spec.controller: ''",
			"spec.controller: Required value"},
		{"parameters without kind and name", "spec.parameters: {kind: '', name: ''}",
			"spec.parameters.kind: Required value",
			"spec.parameters.name: Required value"},
		{"scope", "spec.parameters.scope: Some",
			`spec.parameters.scope: Unsupported value: "Some": supported values: "Cluster", "Namespace"`},
		{"no namespace", "spec.parameters.namespace: ~",
			"spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"},
		{"namespace of the cluster", "spec.parameters.scope: Cluster",
			"spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"},
	})
	k.Update(t, []resourcetest.Case{{"controller", "spec.controller: example.com/other",
		`spec.controller: Invalid value: "example.com/other": field is immutable`}, {"parameters", "spec.parameters.name: b"}})
	k.Defaults(t, []resourcetest.Case{{"scope", "spec.parameters: {kind: A, name: b}", "spec.parameters.scope: Cluster"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "nginx  example.com/nginx  Config.example.com/a  <unknown>"}})
}

const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: default}
spec:
  podSelector: {matchLabels: {a: b}}
  policyTypes: [Ingress, Egress]
  ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [{port: 80}]}]
  egress: [{to: [{podSelector: {}}], ports: [{port: 80, endPort: 90, protocol: TCP}]}]
`

func TestNetworkPolicy(t *testing.T) {
	k := resourcetest.New(t, networking.Resources(), policy)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"selector", "spec.podSelector: {matchLabels: {'a b': c}}",
			`spec.podSelector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and`},
		{"unknown type", "spec.policyTypes: [Some]",
			`spec.policyTypes[0]: Unsupported value: "Some": supported values: "Ingress", "Egress"`},
		{"three types", "spec.policyTypes: [Ingress, Egress, Ingress]",
			`spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes`},
		{"protocol", "spec.ingress[0].ports[0].protocol: ICMP",
			`spec.ingress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"`},
		{"port", "spec.ingress[0].ports[0].port: 0",
			"spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"},
		{"port name", "spec.ingress[0].ports[0].port: A_",
			`spec.ingress[0].ports[0].port: Invalid value: "A_": must contain at least one letter (a-z)`,
			`spec.ingress[0].ports[0].port: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`},
		{"range that ends before it starts", "spec.egress[0].ports[0].endPort: 70",
			"spec.egress[0].ports[0].endPort: Invalid value: 70: must be greater than or equal to `port`"},
		{"range without a start", "spec.egress[0].ports[0].port: ~",
			"spec.egress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is not specified"},
		{"range of a name", "spec.egress[0].ports[0].port: http",
			"spec.egress[0].ports[0].endPort: Invalid value: 90: may not be specified when `port` is non-numeric"},
		{"peer of nothing", "spec.egress[0].to: [{}]",
			"spec.egress[0].to[0]: Required value: must specify a peer"},
		{"peer of two kinds", "spec.ingress[0].from[0].podSelector: {}",
			"spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"},
		{"block", "spec.ingress[0].from[0].ipBlock: {cidr: a}",
			`spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"no block", "spec.ingress[0].from[0].ipBlock: {cidr: ''}",
			"spec.ingress[0].from[0].ipBlock.cidr: Required value"},
		{"exception outside", "spec.ingress[0].from[0].ipBlock.except: [192.0.2.0/24]",
			"spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"192.0.2.0/24\": must be a strict subset of `cidr`"},
		{"exception of everything", "spec.ingress[0].from[0].ipBlock.except: [10.0.0.0/8]",
			"spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`"},
		{"malformed exception", "spec.ingress[0].from[0].ipBlock.except: [a]",
			`spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"namespaces", "spec.ingress[0].from: [{namespaceSelector: {matchExpressions: [{key: a, operator: Is}]}}]",
			`spec.ingress[0].from[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`},
	})
	k.Update(t, []resourcetest.Case{{"selector", "spec.podSelector: {}"}, {"unknown type", "spec.policyTypes: [Some]",
		`spec.policyTypes[0]: Unsupported value: "Some": supported values: "Ingress", "Egress"`}})
	k.Defaults(t, []resourcetest.Case{
		{"protocol", "", "spec.ingress[0].ports[0].protocol: TCP"},
		{"types", "spec.policyTypes: ~", "spec.policyTypes: [Ingress, Egress]"},
		{"no egress", "spec.policyTypes: ~\nspec.egress: ~", "spec.policyTypes: [Ingress]"},
	})
	k.Created(t, []resourcetest.Case{{"generation", "", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"selector", "spec.podSelector: {}", "metadata.generation: 2"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "p  a=b  <unknown>"}})
}

const address = `
apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata: {name: 192.0.2.7}
spec: {parentRef: {resource: services, namespace: default, name: web}}
`

func TestIPAddress(t *testing.T) {
	k := resourcetest.New(t, networking.Resources(), address)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"name", "metadata.name: a",
			`metadata.name: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"address in another form", "metadata.name: '2001:0db8::1'",
			`metadata.name: Invalid value: "2001:0db8::1": must be in canonical form ("2001:db8::1")`},
		{"no parent", "spec: {}",
			"spec.parentRef: Required value"},
		{"no name and resource", "spec.parentRef: {namespace: default}",
			"spec.parentRef.name: Required value",
			"spec.parentRef.resource: Required value"},
		{"parent", "spec.parentRef: {group: A_, resource: 'a/b', namespace: A_, name: 'a/b'}",
			`spec.parentRef.group: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`,
			`spec.parentRef.name: Invalid value: "a/b": may not contain '/'`,
			`spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`},
	})
	k.Update(t, []resourcetest.Case{{"labels", "metadata.labels: {a: b}"}, {"parent", "spec.parentRef.name: other",
		`spec.parentRef: Invalid value: null: field is immutable`}})
	k.Rows(t, []resourcetest.Case{{"row", "", "192.0.2.7  services/default/web"}})
}

const cidr = `
apiVersion: networking.k8s.io/v1
kind: ServiceCIDR
metadata: {name: more}
spec: {cidrs: [10.97.0.0/24]}
`

func TestServiceCIDR(t *testing.T) {
	k := resourcetest.New(t, networking.Resources(), cidr)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"none", "spec.cidrs: []",
			"spec.cidrs: Required value: at least one CIDR required"},
		{"three", "spec.cidrs: [10.97.0.0/24, 'fd00::/64', 10.98.0.0/24]",
			`spec.cidrs: Invalid value: {"cidrs":["10.97.0.0/24","fd00::/64","10.98.0.0/24"]}: may only hold up to 2 values`},
		{"two of a family", "spec.cidrs: [10.97.0.0/24, 10.98.0.0/24]",
			`spec.cidrs: Invalid value: ["10.97.0.0/24","10.98.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64`},
		{"malformed", "spec.cidrs: [a]",
			`spec.cidrs[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"bits of a host", "spec.cidrs: [10.97.0.1/24]",
			`spec.cidrs[0]: Invalid value: "10.97.0.1/24": must not have bits set beyond the prefix length`},
	})
	k.Update(t, []resourcetest.Case{{"another", "spec.cidrs: [10.98.0.0/24]",
		`spec.cidrs[0]: Invalid value: "10.98.0.0/24": field is immutable`}, {"fewer", "spec.cidrs: []",
		"spec.cidrs: Invalid value: []: field is immutable"}, {"second family", "spec.cidrs: [10.97.0.0/24, 'fd00::/64']"}})
	k.Rows(t, []resourcetest.Case{{"row", "", "more  10.97.0.0/24  <unknown>"}})
}
