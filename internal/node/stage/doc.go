// Package stage reads kwok's Stages: what becomes of a pod or a node next, if it is in a
// certain state, after how long, and which of several ways it goes.
//
//	st, err := stage.Parse(yaml)
//	o, err := stage.Of(pod)
//	next := stages.Choose(o)          // by selectors and weights; nil if none is for it
//	after := next.Delay(o, now)
//	steps, err := next.Steps(o, funcs) // events, patches, a deletion
//
// Expressions are jq's, and templates Go's, with the functions Quote, Now, StartTime, YAML,
// Version and NodeConditions, those that the caller gives (addresses, names), and a
// few that people know from sprig; one that is not known is an error of Parse. What Parse
// does not understand it refuses, so that nothing is lost unseen: of kwok's own there are no
// CEL expressions, no apply steps, and no resources but pods and nodes.
//
// # Concurrency
//
// A Stage is never changed once it is made, and may be shared. An Object may not.
package stage
