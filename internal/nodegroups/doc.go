// Package nodegroups simulates the node groups of a cloud: instances that come after a delay, cost money, run out of stock and
// fail, for Cluster Autoscaler's external gRPC provider.
//
//	file, err := nodegroups.Load("groups.yaml")
//	groups := nodegroups.New(env, nodes, nodegroups.Options{File: file, Address: "127.0.0.1:8086"})
//	err = groups.Run(ctx)
//
// # Life of an instance
//
// An increase of a group's size requests instances. An instance waits until there is stock, is created for the group's
// provisionTime, runs for its registrationTime, and then becomes a Node that is marked as simulated, with the label GroupLabel; the
// package node simulates it. From then on the Node is the instance: when it is deleted, by the service or by others, the
// instance is gone and the size is smaller by one. An instance that a declared failure hits stays until it is deleted.
//
// The size of a group is the number of its instances without a Node, failed ones included, plus the number of its Nodes that
// are not being deleted. When Run begins, groups below their minimum get it.
//
// # State
//
// Instances without a Node are stored in the ConfigMap fairlead-node-groups of kube-system, a key for each group, before a
// call of the service returns. So a killed process loses no instance, and each keeps its time and its fate and becomes one
// Node. A key of a group that the file does not have stays as it is. Only one process of a cluster may run Groups.
//
// # Concurrency
//
//  1. One goroutine makes Nodes of instances whose time has come; it wakes for the next of these, for a change of size, and
//     when a Node of a group is gone.
//  2. Calls of the service and that goroutine take turns.
//  3. Run serves calls when the Nodes have joined, and returns when the last has ended.
package nodegroups
