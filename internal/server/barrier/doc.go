// Package barrier holds writes back until the StorageVersions of the server are registered, so that no object is stored in a
// version that the StorageVersion of its resource does not tell of.
//
// [New] makes the [Report] of each built-in resource that is stored. The owner of the server registers them, tells [Barrier.Done]
// of each, and [Barrier.Lift] when all are. Until then [Barrier.Check] refuses requests for resources that are not registered,
// except
//
//   - get, list and watch,
//   - writes of StorageVersions,
//   - writes of Leases in kube-system, which those of API servers are in,
//   - creates of namespaces by the server itself.
//
// The names of resources decide, and not whether a request would succeed: a resource of another version, a dry run and a
// subresource are refused too. Custom resources, and those of other API servers, have no report.
//
// # Concurrency properties
//
//  1. All methods may be called concurrently.
//  2. Once a resource is registered, or the barrier is lifted, Check does not refuse its requests any more.
package barrier
