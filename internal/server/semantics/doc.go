// Package semantics holds what clients may rely on when they list, watch and write,
// written as transcripts of HTTP: a request, then exactly what comes back.
//
// The transcripts in testdata are run against a server of ours by go test, and
// against any other API server by
//
//	SEMANTICS_SERVER=https://127.0.0.1:6443 SEMANTICS_TOKEN=... \
//	go test ./internal/server/semantics -run Transcripts
//
// A kube-apiserver that is alone needs --disable-admission-plugins=ServiceAccount, as
// nobody makes the service accounts that pods would have. Transcripts that compact
// the history need a server that compacts its own soon (--etcd-compaction-interval=2s)
// and are run if SEMANTICS_COMPACTS=1 says so; list-revision needs one that does not.
// The transcript that cuts a server off its etcd needs one without a watch cache
// (--watch-cache=false), SEMANTICS_ETCD=127.0.0.1:2379, and SEMANTICS_ETCD_VIA, the
// address of etcd that the server was given: the test listens there, and waits for a
// server that is started meanwhile.
// With SEMANTICS_REWRITE=1 the answers are written into the files instead of being
// compared.
//
// # The form of a transcript
//
// A file is a list of blocks with an empty line between them; lines that begin
// with # are comments. A block is a command, a line of four dashes and what
// the command printed. A block may have a second answer, after "---- fairlead":
// the first is then kube-apiserver's alone, and the comment says why they are
// not the same.
//
//	GET PATH                   one request (any method); headers and a body may
//	                           follow on lines of their own
//	watch W GET PATH           opens a watch; only what it begins with is printed
//	websocket W PATH           the same through a WebSocket
//	next W N                   the next N events of a watch
//	end W                      all that comes until the server ends the watch
//	close W                    hangs up
//	fields PATH                the field labels a kind can be selected by
//	matrix PATH                a GET with each combination of the values of its
//	                           parameters, which follow as lines "name=value,..."
//	compact REVISION           forgets the history before a revision
//	cut                        the server hears nothing of its store, while others
//	                           write config maps there and forget the history
//
// Options follow a bar: brief prints an object as its kind, name, revision and
// labels; raw prints the body as it came; save=NAME:path keeps a value of
// the answer as $NAME; header=NAME prints a header; http1 uses HTTP/1.1.
//
// A body is one line of JSON, or lines of YAML that begin with a bar and a space. $$ is
// a dollar.
//
// Every transcript has a namespace of its own, $ns, and a word of its own, $run.
// $cm and $pods are the paths of the namespace's config maps and pods.
//
// # What is made the same
//
// Members are sorted, managedFields left out, UIDs and times replaced. The
// revision of an object is printed as r1, r2, ... in the order in which the
// transcript comes to know them, and can be used as $r1 in what follows; so
// equal names are equal revisions. The revision of a list or a bookmark is
// printed as "now" if no known revision is above it, else as the name it is
// equal to, else as "past"; if the request asked for a certain revision, it is
// printed as that.
package semantics
