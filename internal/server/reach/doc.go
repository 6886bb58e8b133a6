// Package reach connects the server to what it asks: webhooks, other API servers, kubelets
// and pods. A Network is the only thing in the server that dials, so that its rule
// holds for all of them.
//
// # Services
//
// There is no network of the cluster between the server and a service: a service leads to
// one of its ready endpoints, at random, or to its external name.
//
// # Simulated addresses
//
// No packet leaves for an address that only exists in a simulation: on the network of the
// machine it may be anybody's. Such a connection fails at once, with an error that says so. Simulated are
//
//   - the addresses that simulated nodes have declared, their pods' ranges and, unless their kubelets really listen, their own,
//     in the ConfigMap kube-system/fairlead-simulated-nodes: under the prefix of the nodes' names, prefixes (10.128.0.0/9) and
//     ranges (172.18.0.2-172.18.0.9) with spaces between;
//   - the endpoints of a service that are pods of a Node with the annotation fairlead.dev/simulated: "true", or
//     kwok.x-k8s.io/node: fake, whatever their address is;
//   - cluster IPs, where any addresses are declared: they lead to endpoints of their services, by the same rules;
//   - what Local says of its own process, before anything is declared.
//
// So the rule holds for nodes of other processes, and for addresses whose pods and nodes have gone. It is
// applied to an address just before the connection is made, hence also to those that names resolve to.
//
// Pods of the server's own process answer where a definition says what is behind their port; proxies of pods and services
// reach the others too, which greet by HTTP.
package reach
