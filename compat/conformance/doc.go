// Package conformance runs Kubernetes' own conformance tests, 1.36.3's, against `fairlead
// up`:
//
//	go test -tags conformance -timeout 90m -parallel 8 -v ./conformance    # or `make conformance`, above
//
// specs.txt names all of them. Those marked + must pass. The others are marked by the
// missing part that they need: see the head of the file. The tests are compiled into this
// package's test, which takes minutes the first time; it then runs itself several times,
// each with a server of its own and a share of the specs.
package conformance
