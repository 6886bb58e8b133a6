// Package devices describes the devices of simulated nodes, such as GPUs, and makes the ResourceSlices that a driver
// would publish for them.
//
// A Catalog is the file of the flag --devices:
//
//	driver: gpu.example.com
//	class: gpu                           # a DeviceClass of all devices, made if it does not exist
//	extendedResourceName: example.com/gpu # of the class
//	models:
//	- name: h100                         # devices h100-0 to h100-7, attribute model: h100
//	  count: 8                           # of each node
//	  nodes: [node-1, node-2]            # of these nodes; of all nodes without nodes and labels
//	  labels: {accelerator: h100}        # of nodes with these labels
//	  capacity: {memory: 80Gi}
//	  attributes: {generation: 9}        # text, whole numbers, true and false
//	  nvlinkSize: 4                      # devices that one NVLink domain joins
//	  partitions:                        # what a device can be divided into
//	  - {name: 1g-10gb, count: 7, capacity: {memory: 10Gi}}
//	failures:
//	  rate: 0.01                         # the share of devices that have failed
//	  nodes: [node-2]                    # nodes all of whose devices have failed
//	  effect: NoExecute                  # of the taint of failed devices; NoSchedule if absent
//
// Each device has the attributes model, index and profile (whole, or the name of the partition), and nvlinkDomain if it is
// in one. A device and its partitions share counters, so that one or the others are allocated. Which devices have failed
// depends on their names only.
package devices
