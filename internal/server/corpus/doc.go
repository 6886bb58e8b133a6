// Package corpus holds what the server makes of manifests, good and bad ones of
// every kind, written as cases: a request, then what came back.
//
// The cases in testdata are run by go test against a server of ours with
// everything that guards its writes. What they expect was answered by
// kube-apiserver 1.36, and can be asked of it, or of any other API server, by
//
//	CORPUS_SERVER=https://127.0.0.1:6443 CORPUS_TOKEN=... go test ./internal/server/corpus
//
// started with --authorization-mode=RBAC --allow-privileged --service-cluster-ip-range=10.96.0.0/12
// and --service-account-issuer=https://kubernetes.default.svc.cluster.local, the
// token being that of kubernetes-admin in system:masters. With CORPUS_REWRITE=1
// the answers are written into the files.
//
// With the tag sweep, TestSweep asks both servers for many more answers: each manifest
// that a case creates, changed at random along its Go type, as a dry run.
//
// # The form of a case
//
// A file is blocks with an empty line between them, and comments begin with #. A
// case is a line "== NAME", a request, a line of four dashes and the answer; the
// requests that follow up to the next name belong to it. It has a namespace of
// its own with the service account "default" in it. $ns is that namespace, $run a
// word of the case's own for the names of what is in no namespace.
//
//	POST v1/pods           a path below the case's namespace
//	GET /api/v1/nodes      a path of its own
//	APPLY v1/pods/a        a PATCH with an applied configuration
//
// Headers may follow, and then the body. It is YAML and is sent as JSON, unless a
// Content-Type says otherwise: then it is sent as it stands. A block "let NAME" with a
// manifest gives that a name; a body that begins with $NAME is the manifest with
// the changes that follow, each a path and its new value, null for none:
//
//	$pod
//	spec.containers[0].ports[0]: {containerPort: 0}
//	metadata.labels[example.com/a]: b
//
// $last is the last object that was answered, $token the last token: with the header
// "Authorization: Bearer $token" a request is its owner's and not the administrator's.
//
// The files wire-* are about the wire itself. "Body:" among the headers is a body
// that is no manifest: texts in Go's quotes, each with "*" and a number if it is
// repeated. "Show:" names headers that the answer is to show; Body is the body as it
// came, and "-" leaves it out. $etag is the last ETag, "none" a header not sent.
//
// # The form of an answer
//
// The code, and of an object what makes it differ from the body that was posted or
// put, else from what was last seen of it: + a member more, - one less, ~ another
// value. Its managedFields follow, a line for each entry. Of the metadata that the
// server sets only what is unusual is said: the same revision as before, no
// revision, no uid. A Status shows its reason, message, details and causes, sorted,
// each once; the message of an Invalid one is left out where it is made of the
// causes. A Table shows its columns and rows.
//
// UIDs, addresses of services, node ports and generated names are replaced by names
// that count them; times, ages and tokens by a word.
//
// An answer behind "---- fairlead" is ours where it is not the same. Such a case is
// listed with its reason in docs/differences.md, and the test holds the two lists
// to each other.
package corpus
