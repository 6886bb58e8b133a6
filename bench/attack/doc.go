// Attack puts on Fairlead, and on kube-apiserver over etcd, what would take an API server's
// memory or processor from everybody: requests that grow, bodies that never come, storms,
// and frames of HTTP/2 that cost the server more than their sender. For each it tells what
// the server answered, its memory at most, how another client was served meanwhile, and what
// was left of it ten seconds later.
//
//	go run ./attack -kube-apiserver PATH -etcd PATH   # both, ten minutes
//	go run ./attack -against fairlead -only copies,bodies
//
// Every server is started anew for every attack, listens on 127.0.0.1, and is stopped when
// its memory passes -most. All attacks are bounded in count and time.
package main
