// Package corpus specifies the server's answers to manifests, valid and invalid ones of every kind, as cases: a
// request, followed by the answer.
//
// The cases in testdata are run by go test against a server of ours with all of admission and authorization. The
// expected answers are kube-apiserver 1.37's. They can be requested from it, or from any other API server, by
//
//	CORPUS_SERVER=https://127.0.0.1:6443 CORPUS_TOKEN=... go test ./internal/server/corpus
//
// started with --authorization-mode=RBAC --allow-privileged --service-cluster-ip-range=10.96.0.0/12 and
// --service-account-issuer=https://kubernetes.default.svc.cluster.local, with the token of kubernetes-admin in
// system:masters. With CORPUS_REWRITE=1 the answers are written into the files. Each of the files wire-paths,
// wire-parameters and impersonation needs a new API server, because lists of all namespaces show the objects of other
// cases, and kube-apiserver remembers how a user was impersonated last.
//
// With the tag sweep, TestSweep compares many more answers of both servers: each manifest that a case creates,
// changed at random along its Go type, is posted as a dry run.
//
// # The form of a case
//
// A file is blocks with an empty line between them, and comments begin with #. A case is a line "== NAME", a
// request, a line of four dashes and the answer; the requests that follow up to the next name belong to it. Each
// case has a namespace of its own with the service account "default" in it. $ns is that namespace; $run is a random
// word for the names of cluster-scoped objects.
//
//	POST v1/pods           a path below the case's namespace
//	GET /api/v1/nodes      a path of its own
//	APPLY v1/pods/a        a PATCH with an applied configuration
//
// Headers may follow, and then the body. It is YAML and is sent as JSON, unless it has a Content-Type: then it is
// sent unchanged. A block "let NAME" with a manifest names that manifest; a body that begins with $NAME is the
// manifest with the changes that follow, each a path and its new value, null to remove it:
//
//	$pod
//	spec.containers[0].ports[0]: {containerPort: 0}
//	metadata.labels[example.com/a]: b
//
// $last is the last object in an answer, $token the last token: with the header "Authorization: Bearer $token" a
// request is sent as its owner and not as the administrator.
//
// The files wire-* test the wire itself. "Body:" among the headers is a body that is not a manifest: texts in Go's
// quotes, each with "*" and a number if it is repeated. "Show:" names headers to print from the answer; Body is the
// body as received, and "-" omits it. $etag is the last ETag; the value "none" leaves a header out.
//
// # The form of an answer
//
// An answer is the code and, for an object, its differences from the posted body or else from its last known state:
// + an added member, - a removed one, ~ another value. Its managedFields follow, a line for each entry. Server-set
// metadata is printed only if it is unusual: an unchanged revision, no revision, no uid. A Status is printed as its
// reason, message, details and causes, sorted and without duplicates; the message of an Invalid one is omitted if
// it consists of the causes. A Table is printed as its columns and rows.
//
// UIDs, addresses of services, node ports and generated names are replaced by numbered names; times, ages and
// tokens by a word.
//
// An answer behind "---- fairlead" is ours where it differs. Such a case is listed with its reason in
// docs/differences.md, and the test compares the two lists.
package corpus
