// Package conformance runs Kubernetes' own conformance tests, 1.37.2's:
//
//	go test -tags conformance -timeout 90m -parallel 8 -v ./conformance    # or `make conformance`, above
//
// Where this machine can have real nodes (see package realnode), all of them run on one
// cluster of two real nodes, and all must pass. Elsewhere those run that pass on simulated
// nodes, and the others are named. FAIRLEAD_REAL_NODES=yes or =no decides in place of the
// machine. Junit files go to the folder $FAIRLEAD_CONFORMANCE_RESULTS, if it is set.
//
// specs.txt names all tests. Those marked + must pass on simulated nodes. The others are
// marked by the missing part that they need: see the head of the file. The tests are compiled
// into this package's test, which takes minutes the first time; it then runs itself several
// times, each with a share of the specs.
//
// controlplane.txt names specs about the control plane that are not conformance tests, with the same marks. They run on
// simulated nodes, with the feature gates that they are of: -run TestControlPlane.
package conformance
