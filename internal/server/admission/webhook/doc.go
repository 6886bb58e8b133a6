// Package webhook asks the webhooks of MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations, in admission.k8s.io/v1.
//
// A configuration counts for every request that begins after its write was answered.
// While there is none, a request costs the look at one revision.
//
//   - Mutating webhooks are asked one after the other, in the order of their
//     configurations' names. What one answers with, a JSON patch, the next one sees.
//     After a change those with reinvocationPolicy IfNeeded that were asked before it
//     are asked once more, when all plugins have run again.
//   - Validating webhooks are asked at once; the error of the first in order counts.
//   - A webhook that cannot be asked, or that answers nonsense, fails the request or is
//     passed over, as its failurePolicy says. A refusal is not a failure.
//   - A service is resolved to a ready endpoint of its EndpointSlices, or to its
//     external name, for each call: there is no cluster network in between. The server is
//     known by the name service.namespace.svc. Simulated pods have no address that could
//     be reached; a Service without selector, with an EndpointSlice of one's own, has.
//
// auditAnnotations are read and dropped, as there is no audit log. Webhooks that know
// only v1beta1 of the review count as failed. Of what kube-apiserver can be told in a
// configuration file (client certificates for webhooks) there is nothing.
//
// # Concurrency
//
// Plugins may be used from many goroutines. A request to validating webhooks has one
// goroutine for each of them, which end before the plugin returns. Connections are kept
// and shared by all webhooks of the same address and CA.
package webhook
