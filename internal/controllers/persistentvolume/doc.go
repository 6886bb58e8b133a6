// Package persistentvolume binds claims and volumes: it binds a PersistentVolumeClaim to the smallest volume that
// satisfies it, requests one from the provisioner of the claim's storage class if no volume does, and releases,
// keeps or deletes volumes whose claim is gone. Volumes are created and deleted by their provisioners; the provisioner
// of simulated volumes is part of the nodes.
//
// A binding is four writes, and the next pass completes those that a crash has left out: the volume's claimRef, its
// phase, the claim's volumeName, the claim's phase. The claimRef decides: it is written conditionally on the
// volume's resourceVersion, so that only one of two claims wins.
//
// Claims and volumes have a loop of their own each, which wake each other through the informers. The
// events of waiting claims are repeated every 15 seconds.
package persistentvolume
