package controlplane_test

// gangScenarios are those of the tests of pod groups, of their affinity, volumes and queue.
var gangScenarios = []string{`
gang schedules when pod group and resources are available
	node n 4
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
`, `
any available pod group members get scheduled
	node n 4
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	pod d group=g
	scheduled d
`, `
gang waits for quorum to start, then schedules
	node n 4
	group g 3
	pod a group=g
	pod b group=g
	waits a b
	pod c group=g
	scheduled a b c
`, `
gang waits for pod group, then for resources, then schedules
	node n 4
	pod blocker cpu=2
	scheduled blocker
	pod a group=g
	pod b group=g
	pod c group=g
	waits a b c
	group g 3
	unschedulable a b c
	delete blocker
	scheduled a b c
`, `
minCount is scheduled, but one pod from a gang remain unschedulable until the blocked resources are released
	node n 4
	pod blocker
	scheduled blocker
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	group g 3
	of 3 1 a b c d
	delete blocker
	scheduled a b c d
`, `
two gangs competing for the same resources shouldn't deadlock, reversed order
	node n 4
	group g 3
	group h 3
	pod h3 group=h
	pod g3 group=g
	pod h2 group=h
	pod g2 group=g
	pod h1 group=h
	pod g1 group=g
	scheduled h1 h2 h3
	unschedulable g1 g2 g3
`, `
two gangs competing for the same resources shouldn't deadlock
	node n 4
	group g 3
	group h 3
	pod g1 group=g
	pod h1 group=h
	pod g2 group=g
	pod h2 group=h
	pod g3 group=g
	pod h3 group=h
	scheduled g1 g2 g3
	unschedulable h1 h2 h3
`, `
pod group interleaving with an individual pod shouldn't deadlock nor livelock, and the individual pod gets scheduled
	node n 4
	group g 3
	pod blocker cpu=2
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled blocker
	unschedulable a b c
`, `
basic group schedules when pod group and resources are available, without gang enforcement
	node n 4
	group g basic
	pod a group=g
	scheduled a
	pod b group=g
	pod c group=g
	scheduled a b c
`, `
basic group waits for pod group, part of it waits for resources, then schedules
	node n 4
	pod blocker cpu=2
	scheduled blocker
	pod a group=g
	pod b group=g
	pod c group=g
	waits a b c
	group g basic
	of 2 1 a b c
	delete blocker
	scheduled a b c
`, `
basic group schedules with workload-aware preemption
	node n 4
	pod low cpu=2 prio=10
	scheduled low
	group g basic
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	scheduled a b c d
	removed low
`, `
gang schedules with workload-aware preemption
	node n 4
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	pod l4 prio=10
	scheduled l1 l2 l3 l4
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	scheduled a b c d
	removed l1 l2 l3 l4
`, `
gang schedules with partial workload-aware preemption
	node n 4
	pod v1 prio=5
	pod v2 prio=5
	pod l1 prio=10
	pod l2 prio=10
	scheduled v1 v2 l1 l2
	group g 2 prio=50
	pod a group=g prio=50
	pod b group=g prio=50
	scheduled a b l1 l2
	removed v1 v2
`, `
tas gang with constraint uses workload preemption
	node n 4 zone=z
	pod v1 prio=5
	pod v2 prio=5
	pod l1 prio=10
	pod l2 prio=10
	scheduled v1 v2 l1 l2
	group g 2 prio=50 topology=zone
	pod a group=g prio=50
	pod b group=g prio=50
	scheduled a b l1 l2
	removed v1 v2
`, `
gang pods are unschedulable due to lack of quorum, then scheduled when minCount is decreased
	node n 4
	group g 5
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	waits a b c d
	mincount g 4
	scheduled a b c d
`, `
gang pods are unschedulable due to lack of space, then scheduled when minCount is decreased
	node n 4
	group g 5
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	pod e group=g
	unschedulable a b c d e
	mincount g 4
	scheduled a b c d
	unschedulable e
`, `
gang pods are unschedulable due to lack of quorum, and remain unschedulable without triggering reschedule when minCount is increased
	node n 4
	group g 5
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	waits a b c d
	mincount g 6
	waits a b c d
`, `
anti-affinity honored across the cycle on a multi-topology cluster
	node n1 4
	node n2 4
	group g 2
	pod a group=g label=x apart
	pod b group=g label=x apart
	scheduled a b
	on n1,n2 a b
`, `
anti-affinity keeps the group unschedulable on a single-topology cluster
	node n1 4
	group g 2
	pod a group=g label=x apart
	pod b group=g label=x apart
	unschedulable a b
`, `
two pods sharing a ReadWriteOncePod PVC keep the group unschedulable
	node n 2
	volume v
	group g 2
	pod a group=g claim=v
	pod b group=g claim=v
	unschedulable a b
`, `
two pods with distinct ReadWriteOncePod PVCs are scheduled
	node n 2
	volume v
	volume w
	group g 2
	pod a group=g claim=v
	pod b group=g claim=w
	scheduled a b
`, `
Single gated pod blocks gang group from being scheduled until pod is ungated
	node n 4
	group g 2
	pod a group=g
	pod b group=g
	pod c group=g gate
	ungate c
	scheduled a b c
`, `
Basic policy pod group member pod added mid-cycle is correctly buffered and retried after unschedulable attempt
	node n 2
	group g basic
	pod a group=g cpu=3
	unschedulable a
	pod b group=g
	scheduled b
	unschedulable a
`}

// preemptionScenarios are those of the tests of preemption by pod groups.
var preemptionScenarios = []string{`
Full PodGroup Preemption
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed l1 l2 l3
`, `
Full PodGroup Preemption for basic policy
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g basic
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed l1 l2 l3
`, `
PDB Violation Handling (Reprieve)
	node n 3
	budget foo 2
	pod l1 prio=10 label=foo
	pod l2 prio=10 label=foo
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 2
	pod a group=g cpu=500m
	pod b group=g cpu=500m
	scheduled a b l1 l2
	removed l3
`, `
Multi-node Preemption
	node n1 2
	node n2 2
	pod l1 prio=10 on=n1
	pod l2 prio=10 on=n1
	pod l3 prio=10 on=n2
	pod l4 prio=10 on=n2
	group g 4
	pod a group=g
	pod b group=g
	pod c group=g
	pod d group=g
	scheduled a b c d
	removed l1 l2 l3 l4
`, `
Insufficient Resources (No Preemption)
	node n 3
	pod m prio=500
	pod l1 prio=10
	pod l2 prio=10
	scheduled m l1 l2
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	unschedulable a b c
	scheduled m l1 l2
`, `
Priority-based Victim Selection
	node n 3
	pod m prio=50
	pod l1 prio=10
	pod l2 prio=10
	scheduled m l1 l2
	group g 2
	pod a group=g
	pod b group=g
	scheduled a b m
	removed l1 l2
`, `
Preempt the whole PodGroup even if preempting a single Pod would suffice
	node n 3
	group low 3 prio=10 all
	pod l1 group=low prio=10
	pod l2 group=low prio=10
	pod l3 group=low prio=10
	scheduled l1 l2 l3
	group g 1
	pod a group=g
	scheduled a
	removed l1 l2 l3
`, `
Preempt the whole basic PodGroup with a PodGroup disruption mode
	node n 3
	group low basic prio=10 all
	pod l1 group=low prio=10
	pod l2 group=low prio=10
	pod l3 group=low prio=10
	scheduled l1 l2 l3
	group g 1
	pod a group=g
	scheduled a
	removed l1 l2 l3
`, `
Gang scheduling: schedule as many pods as possible without preempting higher priority pods, but still more than minCount
	node n1 1
	node n2 1
	node n3 1
	node n4 1
	pod p1 prio=10 on=n1
	pod p2 prio=10 on=n2
	pod p3 prio=200 on=n3
	pod p4 prio=200 on=n4
	pod a group=g
	pod b group=g
	pod c group=g
	group g 1
	scheduled a b p3 p4
	removed p1 p2
	unschedulable c
`, `
Gang scheduling: do not reprieve victim pod group of lower priority
	node n1 1
	node n2 1
	node n3 1
	group low 1 prio=50 all
	pod v1 group=low prio=50 on=n1
	pod v2 group=low prio=50 on=n2
	pod v3 prio=10 on=n3
	group g 3
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed v1 v2 v3
`, `
Gang scheduling: preempt a pod group victim but do not schedule full pod group
	node n1 1
	node n2 1
	node n3 1
	node n4 1
	group low 2 prio=50 all
	group high 2 prio=200 all
	pod v1 group=low prio=50 on=n1
	pod v2 group=low prio=50 on=n2
	pod v3 group=high prio=200 on=n3
	pod v4 group=high prio=200 on=n4
	pod a group=g
	pod b group=g
	pod c group=g
	group g 1 all
	scheduled a b v3 v4
	removed v1 v2
	unschedulable c
`, `
Basic scheduling: schedule as many pods as possible without preempting higher priority pods
	node n1 1
	node n2 1
	node n3 1
	node n4 1
	pod p1 prio=10 on=n1
	pod p2 prio=10 on=n2
	pod p3 prio=200 on=n3
	pod p4 prio=200 on=n4
	pod a group=g
	pod b group=g
	pod c group=g
	group g basic
	scheduled a b p3 p4
	removed p1 p2
	unschedulable c
`, `
Basic scheduling: do not reprieve victim pod group of lower priority
	node n1 1
	node n2 1
	node n3 1
	group low 1 prio=50 all
	pod v1 group=low prio=50 on=n1
	pod v2 group=low prio=50 on=n2
	pod v3 prio=10 on=n3
	group g basic
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
	removed v1 v2 v3
`, `
PodGroup with PreemptNever preemption policy in all pods does not perform preemption, with PodGroupPreemptionPolicy disabled
	node n 3
	pod l1 prio=10
	pod l2 prio=10
	pod l3 prio=10
	scheduled l1 l2 l3
	group g 3
	pod a group=g never
	pod b group=g never
	pod c group=g never
	unschedulable a b c
	scheduled l1 l2 l3
`, `
Gang scheduling: preemption with node resources
	node n1 2
	node n2 2
	pod v prio=10 cpu=2 on=n1
	group g 2
	pod a group=g cpu=2
	pod b group=g cpu=2
	scheduled a b
	removed v
`, `
Gang scheduling: preemption with node resources, prioritizes reprieval of higher priority pods
	node n1 2
	node n2 2
	pod v1 prio=5 on=n1
	pod v2 prio=10 on=n1
	group g 2
	pod a group=g selector=n1
	pod b group=g selector=n2
	scheduled a b v2
	removed v1
`, `
Gang scheduling: preemption with pod anti-affinity constraints
	node n1 2
	node n2 2
	pod v prio=10 cpu=250m label=x on=n1
	group g 2
	pod a group=g cpu=1500m label=x apart
	pod b group=g cpu=1500m label=x apart
	scheduled a b
	removed v
`, `
Gang scheduling: preemption with pod node port
	node n1 2
	node n2 2
	pod v prio=10 cpu=250m port on=n1
	group g 2
	pod a group=g cpu=1500m port
	pod b group=g cpu=1500m port
	scheduled a b
	removed v
`, `
Gang scheduling: preemption with pod topology spread constraints
	node n1 16
	node n2 16
	pod v prio=10 label=foo on=n1
	group g 2
	pod a group=g label=foo selector=n1 spread
	pod b group=g label=foo selector=n1 spread
	scheduled a b
	removed v
`, `
Gang scheduling: preemption with pod topology spread constraints, single reprieve
	node n1 16
	node n2 16
	pod v prio=10 label=foo on=n1
	pod w prio=5 label=foo on=n2
	group g 2
	pod a group=g label=foo selector=n1 spread
	pod b group=g label=foo selector=n1 spread
	scheduled a b w
	removed v
`, `
Binding first before preemption for gang policy
	node n 4
	group g 2
	pod p1 group=g
	pod p2 group=g
	pod l prio=10
	scheduled p1 p2 l
	pod a group=g
	pod b group=g
	scheduled a b p1 p2
	removed l
`}

// topologyScenarios are those of the tests of topology constraints.
var topologyScenarios = []string{`
gang schedules on a single rack, when only one feasible rack is available
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	node n4 2 rack=2
	node n5 2 rack=2
	node n6 2 rack=3
	pod x cpu=2 on=n4
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	on n1,n2,n3 a b c
`, `
gang remains pending when no feasible resources are found
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=2
	node n4 2 rack=3
	group g 3 topology=rack
	pod a group=g cpu=2
	pod b group=g cpu=2
	pod c group=g cpu=2
	unschedulable a b c
`, `
gang remains pending when resources are consumed by existing pods
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	pod x cpu=2 on=n1
	pod y cpu=2 on=n3
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	unschedulable a b c
	delete x
	scheduled a b c
`, `
gang uses pod group preemption when resources are consumed by lower priority existing pods
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	pod x cpu=2 prio=10 on=n1
	pod y cpu=2 prio=10 on=n3
	group g 3 topology=rack
	pod a group=g cpu=2
	pod b group=g cpu=2
	pod c group=g cpu=2
	scheduled a b c
	removed x y
`, `
gang schedules on a single rack, choosing placement with the highest score in default placement scoring algorithm
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=2
	node n4 2 rack=2
	node n5 2 rack=2
	node n6 2 rack=3
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	on n1,n2 a b c
`, `
gang schedules on a single rack, choosing placement with highest allocation percentage (default placement scoring algorithm) with pre-existing pods in cluster
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=2
	node n4 2 rack=2
	node n5 2 rack=2
	node n6 2 rack=3
	node n7 2 rack=3
	node n8 2 rack=3
	node n9 2 rack=4
	pod x cpu=2 on=n3
	pod y on=n8
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	on n3,n4,n5 a b c
`, `
two gangs schedule consecutively, each on a separate rack
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	node n4 2 rack=2
	node n5 2 rack=2
	group g 3 topology=rack
	pod a group=g cpu=2
	pod b group=g cpu=2
	pod c group=g cpu=2
	on n1,n2,n3 a b c
	group h 2 topology=rack
	pod d group=h
	pod e group=h
	on n4,n5 d e
`, `
two gangs schedule consecutively, both on the same rack
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	node n4 2 rack=2
	group g 2 topology=rack
	pod a group=g cpu=2
	pod b group=g
	on n1,n2,n3 a b
	group h 3 topology=rack
	pod c group=h
	pod d group=h
	pod e group=h
	on n1,n2,n3 c d e
`, `
two gangs schedule consecutively, different topology keys
	node n1 2 rack=1 zone=1
	node n2 2 rack=1 zone=1
	node n3 2 rack=2 zone=1
	node n4 2 rack=3 zone=2
	node n5 2 rack=3 zone=2
	node n6 2 rack=3 zone=2
	group g 3 topology=rack
	pod a group=g cpu=2
	pod b group=g cpu=2
	pod c group=g cpu=2
	on n4,n5,n6 a b c
	group h 3 topology=zone
	pod d group=h cpu=2
	pod e group=h cpu=2
	pod f group=h cpu=2
	on n1,n2,n3 d e f
`, `
two gangs schedule consecutively, only one fits in the cluster
	node n1 2 rack=1
	node n2 2 rack=1
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	on n1,n2 a b c
	group h 2 topology=rack
	pod d group=h
	pod e group=h
	unschedulable d e
`, `
gang with minCount < pod count schedules on a single rack
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=2
	node n4 2 rack=2
	group g 2 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	together rack a b c
`, `
gang with minCount < pod count schedules on a single rack, choosing smaller rack
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	node n4 2 rack=2
	node n5 2 rack=2
	node n6 2 rack=3
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	on n4,n5 a b c
	pod d group=g
	on n4,n5 d
	pod e group=g
	unschedulable e
`, `
gang does not schedule on a single rack when preemption could free up enough resources
	node n1 2 rack=1
	node n2 2 rack=1
	pod x cpu=2 on=n2
	group g 3 topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	unschedulable a b c
`, `
basic podgroup schedules on the only rack in the cluster
	node n1 2 rack=1
	node n2 2 rack=1
	group g basic topology=rack
	pod a group=g
	pod b group=g
	pod c group=g
	scheduled a b c
`, `
basic podgroup cannot fit on a single rack, no pods get scheduled on a different rack
	node n1 2 rack=1
	node n2 2 rack=2
	pod a group=g
	pod b group=g
	pod c group=g
	group g basic topology=rack
	of 2 1 a b c
`, `
basic podgroup does not schedule at all when no pods fit
	node n1 2 rack=1
	node n2 2 rack=2
	group g basic topology=rack
	pod a group=g cpu=3
	pod b group=g cpu=3
	unschedulable a b
`, `
basic podgroup schedules only some pods when others don't fit on any node
	node n1 2 rack=1
	node n2 2 rack=2
	group g basic topology=rack
	pod a group=g cpu=3
	pod b group=g
	scheduled b
	unschedulable a
`, `
basic podgroup schedules on a single rack, choosing placement with highest allocation percentage (default placement scoring algorithm)
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=2
	node n4 2 rack=2
	node n5 2 rack=2
	pod a group=g
	pod b group=g
	pod c group=g
	group g basic topology=rack
	on n1,n2 a b c
`, `
basic podgroup schedules on a single rack, choosing best scoring placement that will not fit all podgroup
	node n1 2 rack=1
	node n2 2 rack=1
	node n3 2 rack=1
	node n4 2 rack=1
	node n5 2 rack=2
	pod x cpu=2 on=n1
	group g basic topology=rack
	pod a group=g
	on n5 a
	pod b group=g
	on n5 b
	pod c group=g
	unschedulable c
`}
