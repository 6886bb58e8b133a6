// Package stage reads kwok's Stages: the next step of a pod or a node in a certain state, its delay, and
// its weight among others.
//
//	st, err := stage.Parse(yaml)
//	o, err := stage.Of(pod)
//	next := stages.Choose(o)          // by selectors and weights; nil if no stage selects it
//	after := next.Delay(o, now)
//	actions, err := next.Actions(o, funcs) // events, patches, a deletion
//
// Expressions are jq's, and templates Go's, with the functions Quote, Now, StartTime, YAML,
// Version and NodeConditions, those that the caller gives (addresses, names), and a
// few of sprig's; an unknown function is an error of Parse. Members that Parse
// does not understand it refuses, so that no member is silently ignored: of kwok's own there are no
// CEL expressions, no apply steps, and no resources but pods and nodes.
//
// # Concurrency
//
// A Stage is never changed once it is made, and may be shared. An Object may not.
package stage
