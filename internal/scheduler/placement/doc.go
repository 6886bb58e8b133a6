// Package placement chooses a node for a pod: it runs the filters and scores of a profile and,
// if no node is feasible, looks for pods of lower priority to preempt.
package placement
