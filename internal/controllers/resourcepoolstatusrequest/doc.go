// Package resourcepoolstatusrequest answers ResourcePoolStatusRequests (KEP-5677), as kube-controller-manager's
// resourcepoolstatusrequest-controller does: once, with the devices of each pool of a driver, how many of them claims have
// allocated, and how many have a taint that keeps pods away.
//
// A pool counts with the slices of its latest generation. A request waits while some of these are missing, and is looked at
// again when slices change. An answered request is deleted after an hour, any other after a day.
//
// Partitions are not grouped by type, because the feature gate DRAPartitionableDevicesType is off: no attribute names the type.
package resourcepoolstatusrequest
