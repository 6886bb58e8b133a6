// Package persistentvolume is the controller that brings claims and volumes together:
// it binds a PersistentVolumeClaim to the smallest volume that satisfies it, provisions
// one where the claim's storage class has this package's provisioner, tells other
// provisioners to, and releases, keeps or deletes volumes whose claim has gone.
//
// A volume of the provisioner Provisioner is simulated: an object with a capacity and no
// storage behind it. It follows its class and claim in all that can be seen (size,
// modes, class, reclaim policy, node affinity of the node that the scheduler selected,
// growth when the claim asks for more and the class allows it).
//
// A binding is four writes, and what a crash leaves between them the next pass
// completes: the volume's claimRef, its phase, the claim's volumeName, the claim's phase.
// The claimRef decides: it is written against the volume's resourceVersion, so that of
// two claims one wins.
//
// Claims, their sizes and volumes have a loop of their own each; what one does wakes the
// others through the informers. What a claim waits for is told anew every 15 seconds.
package persistentvolume
