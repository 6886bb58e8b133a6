// Package reach connects the server to webhooks, other API servers, kubelets and pods. Everything in the server
// that dials uses a Network, so its rule about simulated addresses holds everywhere.
//
// # Services
//
// There is no cluster network between the server and a service: dialing a service leads to one of its ready
// endpoints, chosen at random, or to its external name.
//
// # Simulated addresses
//
// No packet is sent to an address that exists only in a simulation, because on the machine's network the same
// address may belong to another host. Such a connection fails at once with an error that says so. Simulated
// addresses are
//
//   - the addresses declared by simulated nodes in the ConfigMap kube-system/fairlead-simulated-nodes: the ranges of their
//     pods and, unless their kubelets really listen, the nodes' own addresses. Each key is the prefix of the nodes' names; its value lists
//     prefixes (10.128.0.0/9) and ranges (172.18.0.2-172.18.0.9), separated by spaces;
//   - the endpoints of a service that are pods of a Node with the annotation fairlead.dev/simulated: "true", or
//     kwok.x-k8s.io/node: fake, whatever their address is;
//   - cluster IPs, if any addresses are declared: they lead to endpoints of their services, by the same rules;
//   - the addresses that Local reports for the server's own process, even before any declaration.
//
// The rule thus also holds for nodes of other processes, and for addresses whose pods and nodes have been deleted.
// It is applied to an address just before the connection is made, hence also to those that names resolve to.
//
// Pods of the server's own process respond on a port if a definition covers it. Proxies of pods and services reach
// the other ports too, which respond with an HTTP greeting.
package reach
