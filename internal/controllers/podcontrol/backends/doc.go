// Package backends answers which pods stand behind a Service, on which port,
// and which Services a pod's change concerns. The Endpoints and EndpointSlice
// controllers write the same facts in two shapes; the facts are here.
//
// A Service is found from a pod through an index by one pair of its selector,
// so that a pod's event costs as many look-ups as the pod has labels, however
// many Services there are.
package backends
