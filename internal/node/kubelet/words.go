package kubelet

import (
	"strings"
	"unicode/utf8"
)

// command is one of a script.
type command struct {
	words    []word
	then     link
	out, err target
	// strange is set if the text has more of a shell's language than is read here: it is then
	// taken word by word, which is not what a shell does with it.
	strange bool
}

// link is on what the next command depends.
type link int

const (
	always  link = iota
	ifGood       // &&
	ifNotOK      // ||
)

// target is where a stream of a command goes.
type target int

const (
	asBefore target = iota
	nowhere
	toOutput
	toErrors
)

// word is made of pieces, each a text or the name of a variable.
type word []piece

type piece struct {
	text   string
	name   string // of the variable; "" for a text
	quoted bool
}

// literal is a word that is what it says, without quotes; "" for any other.
func (w word) literal() string {
	if len(w) == 1 && w[0].name == "" && !w[0].quoted {
		return w[0].text
	}
	return ""
}

// reader reads a script.
type reader struct {
	rest string
	out  []command
	c    command
	w    word
}

// parse divides a script into commands at ";", "&&", "||" and line ends, and those into words. Quotes
// keep text together. Comments, $NAME and ${NAME}, 2>&1 and > /dev/null are understood.
func parse(text string) []command {
	r := &reader{rest: text}
	for r.rest != "" {
		if !r.operator() {
			r.character()
		}
	}
	r.end(always)
	return r.out
}

func (r *reader) endWord() {
	if r.w != nil {
		r.c.words = append(r.c.words, r.w)
	}
	r.w = nil
}

func (r *reader) end(then link) {
	r.endWord()
	if r.c.then = then; len(r.c.words) > 0 || r.c.strange {
		r.out = append(r.out, r.c)
	}
	r.c = command{}
}

// take goes on behind a text, if that is what comes next.
func (r *reader) take(text string) (ok bool) {
	r.rest, ok = strings.CutPrefix(r.rest, text)
	return ok
}

// operator reads what stands between words or begins one that is none.
func (r *reader) operator() bool {
	switch {
	case r.take("&&"):
		r.end(ifGood)
	case r.take("||"):
		r.end(ifNotOK)
	case r.take(";"), r.take("\n"):
		r.end(always)
	case r.take(" "), r.take("\t"):
		r.endWord()
	case r.w != nil:
		return false
	case r.rest[0] == '#':
		if r.rest = r.rest[1:]; strings.Contains(r.rest, "\n") {
			r.rest = r.rest[strings.IndexByte(r.rest, '\n'):]
		} else {
			r.rest = ""
		}
	case r.take("2>&1"):
		r.c.err = toOutput
	case r.take(">&2"), r.take("1>&2"):
		r.c.out = toErrors
	case r.takeNull("&>"), r.takeNull(">&"):
		r.c.out, r.c.err = nowhere, nowhere
	case r.takeNull("2>>"), r.takeNull("2>"):
		r.c.err = nowhere
	case r.takeNull("1>"), r.takeNull(">>"), r.takeNull(">"):
		r.c.out = nowhere
	default:
		return false
	}
	return true
}

// takeNull goes on behind a redirection to where nothing is kept.
func (r *reader) takeNull(operator string) bool {
	behind, ok := strings.CutPrefix(r.rest, operator)
	if ok {
		behind, ok = strings.CutPrefix(strings.TrimLeft(behind, " \t"), "/dev/null")
	}
	if ok = ok && (behind == "" || strings.ContainsRune(" \t\n;&|", rune(behind[0]))); ok {
		r.rest = behind
	}
	return ok
}

// character reads what belongs to a word.
func (r *reader) character() {
	switch c, size := utf8.DecodeRuneInString(r.rest); c {
	case '\'':
		text, behind, ok := strings.Cut(r.rest[1:], "'")
		r.c.strange = r.c.strange || !ok
		r.w, r.rest = append(r.w, piece{text: text, quoted: true}), behind
	case '"':
		r.rest = r.rest[1:]
		r.quoted()
	case '$':
		r.variable(false)
	default:
		r.c.strange = r.c.strange || strings.ContainsRune("|&<>`(){}*?[]\\#~!", c)
		r.text(r.rest[:size], false)
		r.rest = r.rest[size:]
	}
}

// quoted reads to the end of double quotes.
func (r *reader) quoted() {
	r.text("", true)
	for r.rest != "" {
		switch c, size := utf8.DecodeRuneInString(r.rest); c {
		case '"':
			r.rest = r.rest[1:]
			return
		case '$':
			r.variable(true)
		default:
			r.c.strange = r.c.strange || c == '`' || c == '\\'
			r.text(r.rest[:size], true)
			r.rest = r.rest[size:]
		}
	}
	r.c.strange = true // nobody has closed them
}

// text adds to the word.
func (r *reader) text(text string, quoted bool) {
	if n := len(r.w) - 1; n >= 0 && r.w[n].name == "" && r.w[n].quoted == quoted {
		r.w[n].text += text
		return
	}
	r.w = append(r.w, piece{text: text, quoted: quoted})
}

// variable reads $NAME or ${NAME}. Anything else that begins so is strange.
func (r *reader) variable(quoted bool) {
	rest, braced := strings.CutPrefix(r.rest[1:], "{")
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || n > 0 && '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	name, rest := rest[:n], rest[n:]
	closed := true
	if braced {
		rest, closed = strings.CutPrefix(rest, "}")
	}
	if name == "" || !closed {
		r.c.strange = true
		r.text("$", quoted)
		r.rest = r.rest[1:]
		return
	}
	r.w, r.rest = append(r.w, piece{name: name, quoted: quoted}), rest
}

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// assigns says whether a word sets a variable, and which.
func (w word) assigns() (name string, value word, ok bool) {
	if w[0].name != "" || w[0].quoted {
		return "", nil, false
	}
	name, text, ok := strings.Cut(w[0].text, "=")
	if ok = ok && name != "" && isLetter(name[0]); ok {
		ok = !strings.ContainsFunc(name, func(r rune) bool { return r > 127 || !isLetter(byte(r)) && (r < '0' || r > '9') })
	}
	return name, append(word{{text: text}}, w[1:]...), ok
}
