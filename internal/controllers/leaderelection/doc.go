// Package leaderelection elects the holders of Leases among their LeaseCandidates (KEP-4355), as kube-apiserver's leader
// election controller does.
//
// An election is needed while a Lease with candidates does not exist, has no holder or has expired, while another candidate
// precedes the holder, and when a candidate was not heard of for a quarter of an hour. Its state is in the objects alone:
//
//  1. Each candidate that was not heard of in the last five seconds is pinged: its pingTime is set. A living candidate
//     answers by a renewTime that is not before the pingTime.
//  2. Five seconds after the pings, or when all have answered, the candidate with the oldest emulation version among those
//     that answered is elected; of several the one with the oldest binary version, and then the first created.
//  3. It becomes the holder of a Lease without a holder, or of one that has expired. The holder of any other Lease stays, and the elected one
//     is its preferredHolder: the holder then lets the Lease expire, or gives it up, and the next election has a free Lease.
//
// The strategy of the candidates with the newest binary version counts. The Leases of other strategies than
// OldestEmulationVersion get no holder here. A candidate that has not renewed itself for half an hour is deleted.
package leaderelection
