// Package purego has the switch of the build tag purego. With it, Kubernetes' own code and net/http do the work of
// this project's fast twins: each caller of a twin asks [Enabled] and calls upstream instead.
//
//   - JSON and protobuf: internal/codec calls sigs.k8s.io/json, encoding/json and the generated code of k8s.io/api;
//   - managed fields: server calls apimachinery's managedfields;
//   - schemas of custom resources: internal/resource/custom calls apiextensions' pruning and defaulting, and
//     kube-openapi's validator;
//   - HTTP/2: internal/server/h2 leaves connections to net/http.
//
// A program behaves the same with and without the tag, apart from speed, with two exceptions of net/http: it has a
// goroutine for each HTTP/2 stream, and ends the stream only when the handler returns. `make purego` runs the tests with it, every
// night in CI: a test that fails only with the tag, or only without it, has found a difference between the twins.
package purego
