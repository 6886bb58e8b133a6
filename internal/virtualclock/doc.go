// Package virtualclock runs a control plane on a clock that stands still until it is advanced, and connects it to clients
// in other processes.
//
// The control plane runs in a bubble of testing/synctest, whose clock jumps to the next timer when all goroutines in it
// wait for one another. One goroutine of the bubble, the gateway, waits for messages from outside of it: the runtime then
// takes the bubble for busy, and its clock stands still. To advance the clock, the gateway waits for a timer in their
// place. The bytes of each connection go through the gateway to and from a pipe in memory.
//
// # Concurrency
//
//  1. A Clock may be used from any goroutine of its bubble.
//  2. The gateway never waits for a connection: each direction of one has at most one chunk on its way.
//  3. While the clock is advanced, it stops at each instant at which bytes go to a client, until the client's machine has
//     taken them and the client has had a few milliseconds to answer, or for patience if it does not take them.
package virtualclock
