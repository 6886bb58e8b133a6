// Package lifecycle decides what happens to a simulated pod next: its status, events about it, patches, its
// deletion, and when to look again. It writes nothing.
//
//	step, err := life.Next(ctx, pod, facts, time.Now())
//
// BuiltIn is the lifecycle of docs/nodes.md: admission, init containers, containers with their restarts and probes,
// resizes, termination. Staged overrides another lifecycle by kwok's Stages. Both return a Step, which one writer
// carries out (package node).
//
// # Concurrency
//
// A Lifecycle is safe for concurrent use for different pods. Facts.Choice and Facts.BackOff belong to the caller
// of Next.
package lifecycle
