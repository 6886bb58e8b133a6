package shell

import (
	"maps"
	"slices"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// while runs while and until.
func (sh *shell) while(c *syntax.WhileClause) (code int) {
	for {
		began, before := sh.clock.now, sh.snapshot()
		if holds := sh.condition(c.Cond); holds == c.Until || sh.breaks > 0 {
			return code
		}
		if code = sh.body(c.Do); sh.leaves() {
			return code
		}
		sh.repeat(began, before)
	}
}

func (sh *shell) forClause(c *syntax.ForClause) (code int) {
	iter := c.Loop.(*syntax.WordIter)
	items := sh.params
	if iter.InPos.IsValid() {
		items = sh.fields(iter.Items)
	}
	sh.certain()
	for _, item := range items {
		sh.unsure = false
		sh.assign(iter.Name.Value, item)
		if code = sh.body(c.Do); sh.leaves() {
			break
		}
	}
	return code
}

func (sh *shell) body(stmts []*syntax.Stmt) int {
	sh.loops++
	defer func() { sh.loops-- }()
	return sh.list(stmts)
}

// leaves reports whether break or continue has left this loop, of which it is told once.
func (sh *shell) leaves() bool {
	if sh.breaks == 0 {
		return false
	}
	sh.breaks--
	return sh.breaks > 0 || !sh.continues
}

// state is all that determines the further course of a script, except the time.
type state struct {
	vars     map[string]variable
	params   []string
	files    map[string]string
	dir      string
	input    *input
	read     int // bytes of it
	recorded int // outputs so far; not compared
}

// snapshot returns the state, if this is a prediction.
func (sh *shell) snapshot() (s state) {
	if sh.recorder == nil {
		return s
	}
	s = state{maps.Clone(sh.vars), sh.params, sh.container.Files.snapshot(), sh.dir, sh.stdin, 0, len(sh.recorder.output)}
	if sh.stdin != nil {
		s.read = sh.stdin.read
	}
	return s
}

// repeat ends a prediction when a round of a loop has left the state as it was: all rounds to come
// are like it. A round that takes no time is not understood, since it would write without end.
func (sh *shell) repeat(began time.Duration, before state) {
	r := sh.recorder
	if r == nil || sh.captured > 0 {
		return
	}
	now := sh.snapshot()
	if !maps.Equal(now.vars, before.vars) || !slices.Equal(now.params, before.params) || !maps.Equal(now.files, before.files) ||
		now.dir != before.dir || now.input != before.input || now.read != before.read {
		return
	}
	if sh.clock.now <= began {
		refuse("a loop that never pauses")
	}
	r.loop = &Loop{From: began, Every: sh.clock.now - began, Output: slices.Clone(r.output[before.recorded:])}
	r.output = r.output[:before.recorded]
	sh.clock.now = Forever
	panic(endless{})
}
