// Package cache holds the model of the cluster that the scheduler works on: nodes, the pods
// on them (assumed pods included), and counts of pods by topology domain.
//
// A Cluster is changed in place by the one goroutine that owns it, the loop of
// scheduler.Scheduler.Run. There is no snapshot: a scheduling cycle takes tens of microseconds,
// so events wait until it is over.
//
// # Counting pods
//
// Inter-pod affinity and topology spread ask "how many pods that a selector selects are in
// the domain of this node". The answer never takes a walk over all pods:
//
//	PodSelector    pods of some namespaces whose labels match
//	Tally          pods that a PodSelector selects, by node
//	Topology       nodes of each domain of a topology key ("zone": a, b, c)
//	DomainCounts   a Tally (or the owners of an ExistingTerm), by domain
//	ExistingTerm   an affinity term of pods on nodes, and how many pods on each node have it
//
// Tally is about the pods that a term selects; ExistingTerm is about the pods that have the
// term. Both are updated when a pod comes or goes, found through a selectorIndex so that only
// the terms that can select the pod are looked at.
//
// For example, three nodes and the pods on them:
//
//	node  zone  pods
//	n1    a     web-1 (app=web), web-2 (app=web)
//	n2    a     db-1  (app=db; anti-affinity to app=web over zone)
//	n3    b     web-3 (app=web, terminating)
//
// give
//
//	Tally(app=web)              n1: 2   n2: 0   n3: 1      of these live: 2, 0, 0
//	Topology(zone)              n1: 0   n2: 0   n3: 1      numbers of the domains a, b
//	DomainCounts(app=web,zone)  All: [2 1]   Live: [2 0]   Total: 3
//	ExistingTerm of db-1        n2: 1
//	ExistingTermCounts, zone    All: [1 0]
//
// A new pod with app=web that avoids app=web by zone fits neither zone. A new pod with
// app=web and no rules fits zone b only: the term of db-1 forbids domain a.
package cache
