// Package flows puts stored FlowSchemas and PriorityLevelConfigurations into effect, and maintains them as kube-apiserver
// does.
//
// The mandatory objects, exempt and catch-all, are restored whenever they are changed or deleted. The suggested ones are
// created anew when they are deleted, and restored unless their annotation apf.kubernetes.io/autoupdate-spec is false. Objects
// that have this annotation and are none of these are deleted: an earlier version has left them. kube-apiserver does this once
// a minute; here it happens at once, but no more than six times a minute, so that two servers of different versions do not
// fight over an object. The condition Dangling of a FlowSchema tells whether its priority level exists.
//
// # Concurrency
//
//  1. Sync may be called before Run. [Flows.Run] is one goroutine, which waits for events of both kinds.
//  2. A write has taken effect when the goroutine has seen its event, soon after it is in the watch cache.
package flows
