package discovery_test

import (
	"testing"

	"fairlead.dev/internal/resource/discovery"
	"fairlead.dev/internal/resource/resourcetest"
)

const slice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}, nodeName: n1, zone: a}]
ports: [{name: http, port: 80, protocol: TCP}]
`

func TestEndpointSlice(t *testing.T) {
	k := resourcetest.New(t, discovery.Resources(), slice)
	k.Create(t, []resourcetest.Case{
		{"valid", ""},
		{"no address type", "addressType: ''",
			"addressType: Required value"},
		{"unknown address type", "addressType: IPv5",
			`addressType: Unsupported value: "IPv5": supported values: "FQDN", "IPv4", "IPv6"`},
		{"no addresses", "endpoints[0].addresses: []",
			"endpoints[0].addresses: Required value"},
		{"address of another family", "endpoints[0].addresses: ['fd00::1']",
			`endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address`},
		{"malformed address", "endpoints[0].addresses: [here]",
			`endpoints[0].addresses[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		{"loopback", "endpoints[0].addresses: [127.0.0.1]",
			`endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)`},
		{"names", "addressType: FQDN\nendpoints[0].addresses: [A_]",
			`endpoints[0].addresses[0]: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or`},
		{"node", "endpoints[0].nodeName: A_",
			`endpoints[0].nodeName: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',`},
		{"host name", "endpoints[0].hostname: a.b",
			`endpoints[0].hostname: Invalid value: "a.b": must not contain dots`},
		{"topology", "endpoints[0].deprecatedTopology: {'a b': 'c d'}"},
		{"host in the topology", "endpoints[0].deprecatedTopology: {kubernetes.io/hostname: a}"},
		{"zone of a hint", "endpoints[0].hints: {forZones: [{name: 'a b'}]}",
			`endpoints[0].hints.forZones[0].name: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters,`},
		{"zone of a hint twice", "endpoints[0].hints: {forZones: [{name: a}, {name: a}]}",
			`endpoints[0].hints.forZones[1].name: Duplicate value: "a"`},
		{"port name twice", "ports[1]: {name: http, port: 81}",
			`ports[1].name: Duplicate value: "http"`},
		{"port name", "ports[0].name: A_",
			`ports[0].name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start`},
		{"port out of range", "ports[0].port: 65536"},
		{"protocol", "ports[0].protocol: ICMP",
			`ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`},
		{"app protocol", "ports[0].appProtocol: 'a b'",
			`ports[0].appProtocol: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with`},
	})
	k.Update(t, []resourcetest.Case{
		{"endpoints", "endpoints: []"},
		{"address type", "addressType: IPv6\nendpoints: []",
			`addressType: Invalid value: null: field is immutable`},
	})
	k.Defaults(t, []resourcetest.Case{{"port", "ports: [{port: 80}]", "ports: [{name: '', port: 80, protocol: TCP}]"}})
	k.Created(t, []resourcetest.Case{{"generation", "", "metadata.generation: 1"}})
	k.Updated(t, []resourcetest.Case{{"endpoints", "endpoints: []", "metadata.generation: 2"}})
	k.Rows(t, []resourcetest.Case{
		{"row", "", "web-1  IPv4  80  10.0.0.1  <unknown>"},
		{"none", "endpoints: []\nports: []", "web-1  IPv4  <unset>  <unset>  <unknown>"},
	})
}
