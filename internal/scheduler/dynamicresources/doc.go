// Package dynamicresources is the scheduler's plugin DynamicResources: it allocates the devices that the ResourceClaims
// of a pod ask for, reserves the claims for the pod or its group, and does the same for extended resources that a DeviceClass
// offers. Package devices has the model that it decides on.
//
//	PreEnqueue  waits until the claims of a pod exist
//	PreFilter   finds the claims, and rejects pods whose claims or classes are not in order
//	Filter      checks where allocated claims are available, and which nodes have devices for the others
//	PostFilter  frees a claim that is allocated where the pod, or its group, cannot run
//	Score       prefers nodes that have the first alternatives of a request
//	Reserve     chooses the devices on the node and takes them
//	PreBind     writes allocations and reservations, and waits for the conditions of devices
package dynamicresources
