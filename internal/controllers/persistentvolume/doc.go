// Package persistentvolume is the controller that brings claims and volumes together:
// it binds a PersistentVolumeClaim to the smallest volume that satisfies it, asks the provisioner of the
// claim's storage class for one where there is none, and releases, keeps or deletes volumes whose claim has gone.
// Volumes are made, enlarged and deleted by their provisioners; the one of simulated volumes stands with the nodes.
//
// A binding is four writes, and what a crash leaves between them the next pass
// completes: the volume's claimRef, its phase, the claim's volumeName, the claim's phase.
// The claimRef decides: it is written against the volume's resourceVersion, so that of
// two claims one wins.
//
// Claims, their sizes and volumes have a loop of their own each; what one does wakes the
// others through the informers. What a claim waits for is told anew every 15 seconds.
package persistentvolume
