// Package resourcepoolstatusrequest answers ResourcePoolStatusRequests (KEP-5677), as kube-controller-manager's
// resourcepoolstatusrequest-controller does: once, with the devices of each pool of a driver, how many of them claims have
// allocated, and how many have a taint that keeps pods away.
//
// A pool counts with the slices of its latest generation. While some of these are missing, a request is tried again five times, within a
// fifth of a second, and after that whenever it is changed. An answered request is deleted after an hour, any other after a day.
//
// With the feature gate DRAPartitionableDevicesType, without which the API drops the fields, devices that consume shared counters are
// also counted by the value of an attribute, which their slice or else the request names.
package resourcepoolstatusrequest
