// Attack sends requests to Fairlead, and to kube-apiserver over etcd, that could exhaust an
// API server's memory or processor: requests that grow, bodies that never arrive, storms,
// and HTTP/2 frames that cost the server more than their sender. For each it reports the
// responses, the server's maximum memory, the latency of another client meanwhile, and both
// ten seconds later.
//
//	go run ./attack -kube-apiserver PATH -etcd PATH   # both, ten minutes
//	go run ./attack -against fairlead -only copies,bodies
//
// Every server is started anew for every attack, listens on 127.0.0.1, and is stopped when
// its memory passes -most. All attacks are bounded in count and time.
package main
