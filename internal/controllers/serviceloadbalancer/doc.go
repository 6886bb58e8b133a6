// Package serviceloadbalancer gives each Service of type LoadBalancer an address of a pool for each of its IP families,
// in status.loadBalancer. It makes no packet arrive: kube-proxy answers at the addresses on every node, and a route of
// the network must lead them to a node.
//
// Services with a loadBalancerClass belong to other controllers. An address that the Service asks for, by
// spec.loadBalancerIP, must be in the pool. The finalizer service.kubernetes.io/load-balancer-cleanup keeps a deleted
// Service until its address is released; a Service that changes its type releases it as well. A Service for which no
// address is free gets the event SyncLoadBalancerFailed, and an address when another Service releases one.
//
// The addresses in use are those that the Services' statuses show, so that a restart changes none.
package serviceloadbalancer
