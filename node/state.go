package node

import "fairlead.dev/trace"

// Joined is closed when all nodes have registered and know their pods.
func (ns *Nodes) Joined() <-chan struct{} { return ns.joined }

// hasJoined counts a node that has registered and knows its pods, or will not.
func (k *kubelet) hasJoined() { k.joins.Do(k.oneJoined) }

// oneJoined counts a node, or the first list of Nodes.
func (ns *Nodes) oneJoined() {
	if ns.absent.Add(-1) == 0 {
		ns.once.Do(func() { close(ns.joined) })
	}
}

// state returns the state of the queues of pods and of stages of nodes, for the trace. Heartbeats are left out. The times
// at which pods change next are volatile: some are counted from the moment at which the node saw the pod.
func (ns *Nodes) state() trace.Queue {
	q := trace.Queue{Working: int(ns.absent.Load()), Volatile: true}
	pods, stages := ns.work.Stats(), ns.stageQueue.Stats()
	q.Depth = pods.Depth + stages.Depth
	q.Working += pods.Working + stages.Working
	q.Delayed = pods.Delayed + stages.Delayed
	q.Adds, q.Retries = pods.Adds+stages.Adds, pods.Retries+stages.Retries
	q.Next = max(pods.Next, stages.Next)
	if pods.Delayed > 0 && stages.Delayed > 0 {
		q.Next = min(pods.Next, stages.Next)
	}
	return q
}
