package shell

import (
	"bufio"
	"io"
	"path"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const maxBuffer = 64 << 10 // of a pipe or a command substitution

// input is a standard input: the client's, a file, a here-document or the right end of a pipe.
type input struct {
	r    *bufio.Reader
	read int // bytes so far
}

func newInput(r io.Reader) *input { return &input{r: bufio.NewReaderSize(r, 512)} }

func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.read += n
	return n, err
}

// line reads to the end of a line, which it includes. At the end of the input it returns the rest and io.EOF.
func (in *input) line() (string, error) {
	var b strings.Builder
	for b.Len() < maxBuffer {
		c, err := in.r.ReadByte()
		if err != nil {
			return b.String(), err
		}
		in.read++
		if b.WriteByte(c); c == '\n' {
			return b.String(), nil
		}
	}
	refuse("a line that is so long")
	return "", nil
}

// buffer collects output.
type buffer struct{ text []byte }

func (b *buffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxBuffer {
		refuse("output of a command substitution that is so long")
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// pipe holds the output of the left side of a |, with its times.
type pipe struct {
	*session
	chunks []chunk
	size   int
	end    time.Duration
}

type chunk struct {
	at   time.Duration
	text []byte
}

func (p *pipe) Write(text []byte) (int, error) {
	if p.size += len(text) + 32; p.size > maxBuffer {
		refuse("a pipe that holds so much")
	}
	p.chunks = append(p.chunks, chunk{p.clock.now, append([]byte(nil), text...)})
	return len(text), nil
}

// pipeReader is the right end of a pipe. A read waits until the time of the write.
type pipeReader struct {
	*shell
	*pipe
}

func (r pipeReader) Read(text []byte) (int, error) {
	if len(r.chunks) == 0 {
		r.waitUntil(r.end)
		return 0, io.EOF
	}
	c := &r.chunks[0]
	r.waitUntil(c.at)
	n := copy(text, c.text)
	if c.text = c.text[n:]; len(c.text) == 0 {
		r.chunks = r.chunks[1:]
	}
	return n, nil
}

func (sh *shell) waitUntil(at time.Duration) {
	if at == Forever {
		sh.sleep(Forever)
	} else if at > sh.clock.now {
		sh.sleep(at - sh.clock.now)
	}
}

// pipeline runs the left side of a | to its end, without waiting, and then the right side, both from the same time on.
func (sh *shell) pipeline(c *syntax.BinaryCmd) int {
	began := sh.clock.now
	p := &pipe{session: sh.session}
	if sh.clock.wait != nil && sh.clock.virtual == 0 {
		sh.virtualSteps = 0
	}
	sh.captured++
	sh.clock.virtual++
	sh.endlessly(func() {
		sh.subshell(func(sub *shell) int {
			sub.stdout = p
			return sub.list([]*syntax.Stmt{c.X})
		})
	})
	sh.captured--
	sh.clock.virtual--
	p.end, sh.clock.now = sh.clock.now, began
	code := sh.subshell(func(sub *shell) int {
		sub.stdin = newInput(pipeReader{sub, p})
		return sub.list([]*syntax.Stmt{c.Y})
	})
	sh.waitUntil(p.end)
	return code
}

// endlessly runs the left side of a pipe, which may never end.
func (sh *shell) endlessly(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(endless); !ok {
				panic(r)
			}
		}
	}()
	f()
}

// redirect replaces the standard streams for a statement. It reports whether all files could be opened.
func (sh *shell) redirect(redirs []*syntax.Redirect) bool {
	for _, r := range redirs {
		if !sh.redirectOne(r) {
			return false
		}
	}
	return true
}

func (sh *shell) redirectOne(r *syntax.Redirect) bool {
	stream := &sh.stdout
	if r.N != nil && r.N.Value == "2" {
		stream = &sh.stderr
	}
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		sh.stdin = newInput(strings.NewReader(sh.document(r)))
		return true
	}
	name := sh.text(r.Word)
	sh.certain()
	switch r.Op {
	case syntax.WordHdoc:
		sh.stdin = newInput(strings.NewReader(name + "\n"))
	case syntax.RdrIn:
		text, ok := sh.readFile(name)
		if !ok {
			sh.complain(1, "sh: can't open %s: no such file\n", name)
			return false
		}
		sh.stdin = newInput(strings.NewReader(text))
	case syntax.DplOut:
		switch name {
		case "1":
			*stream = sh.stdout
		case "2":
			*stream = sh.stderr
		case "-":
			*stream = io.Discard
		default:
			if r.N != nil {
				refuse("the redirection >&" + name)
			}
			return sh.redirectAll(name, false) // >&FILE
		}
	case syntax.RdrAll, syntax.AppAll:
		return sh.redirectAll(name, r.Op == syntax.AppAll)
	default:
		w, ok := sh.create(name, r.Op == syntax.AppOut)
		if !ok {
			return false
		}
		*stream = w
	}
	return true
}

func (sh *shell) redirectAll(name string, appends bool) bool {
	w, ok := sh.create(name, appends)
	if ok {
		sh.stdout, sh.stderr = w, w
	}
	return ok
}

// document returns the text of a here-document.
func (sh *shell) document(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	if text := r.Hdoc.Lit(); text != "" && isQuoted(r.Word) {
		return untab(r, text)
	}
	text, err := expand.Document(sh.config(), r.Hdoc)
	sh.check(err)
	sh.certain()
	return untab(r, text)
}

// untab removes the tabs at the beginning of lines, for <<-.
func untab(r *syntax.Redirect, text string) string {
	if r.Op != syntax.DashHdoc {
		return text
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(l, "\t"))
	}
	return b.String()
}

// isQuoted reports whether the delimiter of a here-document is quoted, which keeps its text as it is.
func isQuoted(delimiter *syntax.Word) bool {
	return delimiter.Lit() == "" || strings.Contains(delimiter.Lit(), "\\")
}

// resolve makes the name of a file absolute.
func (sh *shell) resolve(name string) string {
	if !path.IsAbs(name) {
		name = path.Join(sh.dir, name)
	}
	return path.Clean(name)
}
