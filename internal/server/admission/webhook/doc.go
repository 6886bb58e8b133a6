// Package webhook calls the webhooks of MutatingWebhookConfigurations and ValidatingWebhookConfigurations, in
// admission.k8s.io/v1.
//
// A configuration applies to every request that begins after its write has returned. Without any, a request costs
// the comparison of one revision.
//
//   - Mutating webhooks are called one after the other, in the order of their
//     configurations' names. Each sees the JSON patches of those before it.
//     After a change, those with reinvocationPolicy IfNeeded that were called before it
//     are called once more, when all plugins have run again.
//   - Validating webhooks are called in parallel; the error of the first in order counts.
//   - A webhook that cannot be called, or that responds with an invalid review, fails the
//     request or is ignored, according to its failurePolicy. A rejection is not a failure.
//   - A service is resolved to a ready endpoint of its EndpointSlices, or to its
//     external name, for each call: there is no cluster network in between. The server is
//     verified as service.namespace.svc. Simulated pods have no reachable address;
//     a Service without a selector, with an EndpointSlice of the user's own, does.
//
// auditAnnotations are read and discarded, because there is no audit log. Webhooks that only support v1beta1
// reviews count as failed. kube-apiserver's configuration file for webhooks (client certificates) has no
// counterpart.
//
// # Concurrency
//
// Plugins may be used from many goroutines. A request to validating webhooks has one goroutine for each of them,
// which end before the plugin returns. Connections are kept and shared by all webhooks of the same address and CA.
package webhook
