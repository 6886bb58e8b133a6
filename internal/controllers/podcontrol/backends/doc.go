// Package backends determines the pods behind a Service, their ports, and the Services affected by a pod's change.
// The Endpoints and EndpointSlice controllers publish this information in two forms.
//
// The Services of a pod are found through an index by one pair of their selector, so that a pod's event costs as
// many look-ups as the pod has labels, however many Services there are.
package backends
