// Package expr evaluates the CEL expressions of kwok's kinds: the usage of a container, and the value of a
// metric of a node, a pod or a container.
//
//	p, err := expr.Compile(`Quantity("10Mi") * (pod.SinceSecond() / 60.0)`, expr.Pod)
//	bytes, err := p.Number(expr.OfNode(node).WithPod(pod))
//
// The objects are those of the API, by their members' names in JSON. Moments (members whose names end
// in Time or Timestamp) are timestamps; amounts of resources are numbers, as Quantity("100m") is;
// labels and annotations exist even if they are empty. Functions beside CEL's own, each with its first
// argument before a dot as well:
//
//	Now()                                  timestamp
//	Rand()                                 at least 0 and less than 1
//	UnixSecond(timestamp)                  seconds since 1970
//	SinceSecond(pod|node)                  seconds since it was created
//	Quantity("100m")                       0.1
//	Usage(pod|node, "cpu")                 in cores and bytes; Usage(pod, "cpu", container.name)
//	CumulativeUsage(pod|node, "cpu")       that, times seconds, so far; so for containers
//	StartedContainersTotal(node)           or a node's name
//
// The last three need a Meter.
//
// # Concurrency
//
// A Program may be used from any goroutine; a Scope belongs to one.
package expr
