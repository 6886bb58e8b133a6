package shell

import (
	"io"
	"regexp"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

const maxDepth = 100 // of nested statements

// list runs statements one after the other. It returns the exit code of the last, which is $?.
func (sh *shell) list(stmts []*syntax.Stmt) int {
	code := 0
	for _, s := range stmts {
		code = sh.statement(s)
		if sh.status = code; sh.breaks > 0 {
			break
		}
	}
	return code
}

func (sh *shell) statement(s *syntax.Stmt) (code int) {
	sh.step()
	if sh.depth++; sh.depth > maxDepth {
		refuse("a script that is so deeply nested")
	}
	defer func() { sh.depth-- }()
	sh.expanded, sh.unsure, sh.substituted = 0, false, 0
	in, out, err := sh.stdin, sh.stdout, sh.stderr
	defer func() { sh.stdin, sh.stdout, sh.stderr = in, out, err }()
	code = 1
	if sh.redirect(s.Redirs) {
		code = 0
		if s.Cmd != nil {
			tested := sh.tested
			sh.tested = tested || s.Negated
			code = sh.command(s.Cmd)
			sh.tested = tested
		}
	}
	if s.Negated {
		return oneIf(code == 0)
	}
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op != syntax.Pipe {
		return code // a failure before the last command of a list is tested
	}
	if code != 0 && sh.exitOnError && !sh.tested {
		panic(exit(code))
	}
	return code
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (sh *shell) command(c syntax.Command) int {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return sh.simple(c)
	case *syntax.Block:
		return sh.list(c.Stmts)
	case *syntax.Subshell:
		return sh.subshell(func(sub *shell) int { return sub.list(c.Stmts) })
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe {
			return sh.pipeline(c)
		}
		if ok := sh.condition([]*syntax.Stmt{c.X}); ok != (c.Op == syntax.AndStmt) || sh.breaks > 0 {
			return sh.status
		}
		return sh.list([]*syntax.Stmt{c.Y})
	case *syntax.IfClause:
		return sh.ifClause(c)
	case *syntax.WhileClause:
		return sh.while(c)
	case *syntax.ForClause:
		return sh.forClause(c)
	case *syntax.CaseClause:
		return sh.caseClause(c)
	case *syntax.DeclClause:
		return sh.export(c)
	}
	refuse("this script")
	return 126
}

// condition runs statements whose failure only decides how to go on, and reports whether they succeed.
func (sh *shell) condition(stmts []*syntax.Stmt) bool {
	tested := sh.tested
	sh.tested = true
	defer func() { sh.tested = tested }()
	return sh.list(stmts) == 0
}

func (sh *shell) ifClause(c *syntax.IfClause) int {
	for ; c != nil; c = c.Else {
		if c.ThenPos.IsValid() { // else has none
			holds := sh.condition(c.Cond)
			if sh.breaks > 0 {
				return 0
			}
			if !holds {
				continue
			}
		}
		return sh.list(c.Then)
	}
	return 0
}

func (sh *shell) caseClause(c *syntax.CaseClause) int {
	value := sh.text(c.Word)
	sh.certain()
	for _, item := range c.Items {
		for _, w := range item.Patterns {
			p, err := expand.Pattern(sh.config(), w)
			sh.check(err)
			sh.certain()
			if matches(p, value) {
				return sh.list(item.Stmts)
			}
		}
	}
	return 0
}

func matches(p, value string) bool {
	expr, err := pattern.Regexp(p, pattern.EntireString)
	if err != nil {
		return p == value
	}
	re, err := regexp.Compile(expr)
	return err == nil && re.MatchString(value)
}

// simple runs a command with its arguments. Assignments before it are its environment; without a command
// they are the shell's.
func (sh *shell) simple(c *syntax.CallExpr) int {
	args := sh.fields(c.Args)
	unsure := sh.unsure
	sh.unsure = false
	if len(args) == 0 {
		for _, a := range c.Assigns {
			sh.assign(a.Name.Value, sh.text(a.Value))
		}
		return sh.substituted
	}
	for _, a := range c.Assigns {
		name, value := a.Name.Value, sh.text(a.Value)
		old, set := sh.vars[name]
		sh.assign(name, value)
		sh.vars[name] = variable{value: value, exported: true}
		defer func() {
			if delete(sh.vars, name); set {
				sh.vars[name] = old
			}
		}()
	}
	if sh.unsure = unsure; args[0] == "echo" || args[0] == "printf" {
		sh.shown()
	} else {
		sh.certain()
	}
	return sh.call(args)
}

// export marks variables for the environment of programs.
func (sh *shell) export(c *syntax.DeclClause) int {
	for _, a := range c.Args {
		if a.Name == nil {
			refuse("export of words that are expanded")
		}
		if !a.Naked {
			sh.assign(a.Name.Value, sh.text(a.Value))
		}
		v, ok := sh.vars[a.Name.Value]
		if v.exported = true; ok {
			sh.vars[a.Name.Value] = v
		}
	}
	return 0
}

// substitute runs $(...) and writes its output to w; expand calls it.
func (sh *shell) substitute(w io.Writer, c *syntax.CmdSubst) error {
	expanded, unsure := sh.expanded, sh.unsure
	out := &buffer{}
	sh.captured++
	code := sh.subshell(func(sub *shell) int {
		sub.stdout = out
		return sub.list(c.Stmts)
	})
	sh.captured--
	sh.certain() // of the last statement in it
	sh.expanded, sh.unsure, sh.substituted = expanded, unsure, code
	sh.expand(len(out.text))
	_, err := w.Write(out.text)
	return err
}
