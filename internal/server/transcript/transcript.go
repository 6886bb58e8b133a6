// Package transcript runs recorded conversations with an API server, for tests. The expected
// answers are kube-apiserver's; a server of ours, or any other, has to give the same.
//
// A transcript is a file of blocks with an empty line between them. A block is a request
// line, headers, a body, "----" and the answer:
//
//	# Comments come first.
//	POST /api/v1/namespaces/$ns/configmaps
//	User-Agent: writer/1.0
//	{"metadata":{"name":"a"}}
//	----
//	201
//	{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}
//
// The body is JSON, or YAML if it does not begin with a brace. The method APPLY is a PATCH
// with an apply configuration. The answer is the code, the warnings, and the body as the
// suite prints it. A second answer, behind "---- fairlead", is ours where it differs; a
// comment then gives the reason. $ns is the transcript's namespace and $run a random word.
package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Suite has the transcripts of one package, in its folder testdata.
type Suite struct {
	// Env is the prefix of three environment variables: ENV_SERVER and ENV_TOKEN are the
	// base URL and the bearer token of another server, and ENV_REWRITE=1 writes the
	// answers into the files.
	Env string
	// Serve starts a server of ours for one transcript, and returns its base URL.
	Serve func(t *testing.T) string
	// Prepare sets the peer's Print and, if the suite has commands, its Command.
	Prepare func(p *Peer)
}

// Run runs each transcript as a subtest.
func (s Suite) Run(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { s.run(t, f) })
	}
}

func (s Suite) run(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := s.newPeer(t)
	rewrite := os.Getenv(s.Env+"_REWRITE") != ""
	var out []string
	for block := range strings.SplitSeq(strings.TrimRight(string(data), "\n"), "\n\n") {
		comment, block := cutComment(block)
		if block == "" || p.Command != nil && p.Command(block) {
			out = append(out, strings.TrimSuffix(comment+block, "\n"))
			continue
		}
		request, answer, _ := strings.Cut(block, "\n----\n")
		request = strings.TrimSuffix(request, "\n----") // the answer is still to be written
		theirs, ours, differs := strings.Cut(answer, "\n---- fairlead\n")
		want := &theirs
		if p.Ours && differs {
			want = &ours
		}
		got := p.Do(request)
		if got != *want && !rewrite {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", request, got, *want)
		}
		*want = got
		if block = request + "\n----\n" + theirs; differs {
			block += "\n---- fairlead\n" + ours
		}
		out = append(out, comment+block)
	}
	if rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cutComment cuts the leading comment lines off a block.
func cutComment(block string) (comment, rest string) {
	for rest = block; strings.HasPrefix(rest, "#"); {
		line, after, _ := strings.Cut(rest, "\n")
		comment, rest = comment+line+"\n", after
	}
	return comment, rest
}
