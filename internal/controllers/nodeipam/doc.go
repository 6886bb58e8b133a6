// Package nodeipam gives each node its ranges of pod addresses, spec.podCIDRs: one block of each cluster range, the
// next that is free.
//
// A node that has podCIDRs keeps them, and the blocks that they overlap are taken. No block overlaps a ServiceCIDR. A
// node for which no block is free gets the event CIDRNotAvailable, and a block when another node is deleted. Blocks
// are counted by node UID, so that the ranges of a deleted node are free although another has its name by then.
package nodeipam
