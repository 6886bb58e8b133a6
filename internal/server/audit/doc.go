// Package audit records the requests of the server, with their users and outcome, as kube-apiserver's audit log does:
// a policy decides how much of each request is recorded, and backends write the events to files and send them to webhooks.
//
// # Contract
//
//   - The format of the policy, the events, the backends and their flags are kube-apiserver's; the policy's rules, the
//     batches, the truncation and the encodings are those of k8s.io/apiserver.
//   - A request's [Record] is in its context, in upstream's type: parts of the server, and libraries of upstream, add
//     annotations by [Annotate]. Without a Record, or for a request that the policy leaves out, it has no effect.
//   - With a mode of blocking-strict, a request whose first event cannot be written is refused before it has an effect.
//   - A server without a policy or without a backend has no [Auditor], and its requests no Record.
//
// # Concurrency
//
// An Auditor and the functions on contexts may be used from any goroutine. The other methods of a Record belong to the
// goroutine that serves the request.
package audit
