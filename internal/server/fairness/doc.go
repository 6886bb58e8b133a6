// Package fairness decides which requests run now, which wait and which are refused, as API Priority and Fairness of
// kube-apiserver does (KEP-1040).
//
// The seats of the server are divided among priority levels by their shares. A request takes one seat or several, by its
// width, at the level of the first FlowSchema that matches it. When a level has no free seat, its requests wait in queues:
// a flow (a user or namespace of a FlowSchema) is dealt a hand of queues and uses the shortest of them, so that a flow with
// many requests leaves queues to others. The queue whose first request would finish first in virtual time goes next; virtual
// time is the time in which all queues that have requests share the seats evenly. Levels lend seats that they do not use: the
// limits are adjusted every ten seconds by the demand. Requests of the level exempt never wait.
//
// Unlike in kube-apiserver, a level of 16 seats or more may exceed its limit by a sixteenth for queues that have less than an
// even share of the seats. There, a small request waits until a large one of another flow ends, although its turn has come.
//
// # Concurrency properties
//
//  1. A Dispatcher may be used from any goroutine. A Seat belongs to its request; Leave may be called more than once.
//  2. The configuration is an immutable plan behind a pointer; Set replaces it. A request keeps the level it has entered.
//  3. The locks are Dispatcher.mu and then one level's, or that of traffic. Neither is held while a request waits or runs.
//  4. There is no goroutine. A timer adjusts the limits while requests come; after a period without any it is not set again,
//     and the next request makes up for the periods that have passed.
package fairness
