// Package semantics specifies the behaviour of lists, watches and writes that clients may rely on, as transcripts
// of HTTP: a request, followed by the exact response.
//
// The transcripts in testdata are run against a server of ours by go test, and against any other API server by
//
//	SEMANTICS_SERVER=https://127.0.0.1:6443 SEMANTICS_TOKEN=... \
//	go test ./internal/server/semantics -run Transcripts
//
// A kube-apiserver without controllers needs --disable-admission-plugins=ServiceAccount, because the service
// accounts of pods would be missing. Transcripts that compact the history need a server that soon compacts its own
// (--etcd-compaction-interval=2s) and run only with SEMANTICS_COMPACTS=1; list-revision needs a server that does
// not compact. The transcript that partitions a server from its etcd needs a server without a watch cache
// (--watch-cache=false), SEMANTICS_ETCD=127.0.0.1:2379, and SEMANTICS_ETCD_VIA, the etcd address that the server
// uses: the test listens there, and waits for a server that is started meanwhile. With SEMANTICS_REWRITE=1 the
// answers are written into the files instead of being compared.
//
// # The form of a transcript
//
// A file is a list of blocks with an empty line between them; lines that begin with # are comments. A block is a
// command, a line of four dashes and the command's output. A block may have a second output, after "---- fairlead":
// the first is then kube-apiserver's alone, and the comment gives the reason for the difference.
//
//	GET PATH                   one request (any method); headers and a body may
//	                           follow on lines of their own
//	watch W GET PATH           opens a watch; only its first lines are printed
//	websocket W PATH           the same through a WebSocket
//	next W N                   the next N events of a watch
//	end W                      all events until the server ends the watch
//	close W                    hangs up
//	fields PATH                the field labels a kind can be selected by
//	matrix PATH                a GET with each combination of the values of its
//	                           parameters, which follow as lines "name=value,..."
//	compact REVISION           compacts the history before a revision
//	cut                        partitions the server from its store, while others
//	                           write config maps there and compact the history
//
// Options follow a bar: brief prints an object as its kind, name, revision and labels; raw prints the body as
// received; save=NAME:path keeps a value of the response as $NAME; header=NAME prints a header; http1 uses
// HTTP/1.1.
//
// A body is one line of JSON, or lines of YAML that begin with a bar and a space. $$ is a dollar.
//
// Every transcript has a namespace of its own, $ns, and a random word, $run. $cm and $pods are the paths of the
// namespace's config maps and pods.
//
// # Normalization
//
// Members are sorted, managedFields omitted, UIDs and times replaced. The revisions of objects are printed as r1,
// r2, ... in the order in which the transcript first sees them, and can be used as $r1 later; equal names are thus
// equal revisions. The revision of a list or a bookmark is printed as "now" if no known revision is above it, else
// as the name it equals, else as "past"; if the request asked for a certain revision, it is printed as that.
package semantics
