package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a script's text. The parser recurses, so nested constructs cost stack.
const (
	maxText    = 16 << 10
	maxOpeners = 500
)

// openers begin nested constructs.
var openers = []string{"(", "{", "`", "!", "if", "while", "until", "for", "case"}

// parse parses a script and refuses constructs that are not simulated. An error is one of syntax.
func parse(text string) ([]*syntax.Stmt, error) {
	n := 0
	for _, o := range openers {
		n += strings.Count(text, o)
	}
	if len(text) > maxText || n > maxOpeners {
		refuse("a script that is so long or deeply nested")
	}
	if strings.IndexByte(text, 0) >= 0 {
		refuse("a script with a NUL byte")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		var lang syntax.LangError
		if errors.As(err, &lang) {
			refuse(lang.Feature)
		}
		return nil, err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if what := unsupported(n); what != "" {
			refuse(what)
		}
		return true
	})
	return file.Stmts, nil
}

// unsupported returns the name of a construct that the interpreter does not implement, "" for all others. It lists
// the implemented ones, so that a construct that a later version of the parser adds is refused.
func unsupported(n syntax.Node) string {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Comment, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.CallExpr, *syntax.Block, *syntax.Subshell,
		*syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause, *syntax.WordIter, *syntax.UnaryArithm, *syntax.BinaryArithm, *syntax.ParenArithm:
		return ""
	case *syntax.Stmt:
		if n.Background || n.Coprocess || n.Disown {
			return "a background job"
		}
		return ""
	case *syntax.Assign:
		if !n.Append && n.Index == nil && n.Array == nil {
			return ""
		}
		return "an array"
	case *syntax.BinaryCmd:
		if n.Op == syntax.AndStmt || n.Op == syntax.OrStmt || n.Op == syntax.Pipe {
			return ""
		}
	case *syntax.ForClause:
		if _, words := n.Loop.(*syntax.WordIter); words && !n.Select {
			return ""
		}
	case *syntax.CaseItem:
		if n.Op == syntax.Break {
			return ""
		}
	case *syntax.DeclClause:
		if n.Variant.Value == "export" {
			return ""
		}
		return n.Variant.Value
	case *syntax.DblQuoted:
		if !n.Dollar {
			return ""
		}
	case *syntax.CmdSubst:
		if !n.TempFile && !n.ReplyVar {
			return ""
		}
	case *syntax.ArithmExp:
		if !n.Bracket && !n.Unsigned {
			return ""
		}
	case *syntax.ParamExp:
		if isPOSIX(n) {
			return ""
		}
		return "a parameter expansion that is not POSIX"
	case *syntax.Redirect:
		return unsupportedRedirect(n)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")
}

// isPOSIX reports whether POSIX knows a form of parameter expansion. The others can make more text of a value
// than it is long.
func isPOSIX(p *syntax.ParamExp) bool {
	if p.Flags != nil || p.Excl || p.Width || p.IsSet || p.Param == nil || p.NestedParam != nil || p.Index != nil ||
		p.Modifiers != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 ||
		p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 {
		return false
	}
	if p.Exp == nil {
		return true
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return true
	}
	return false
}

func unsupportedRedirect(n *syntax.Redirect) string {
	if n.N != nil && n.N.Value != "0" && n.N.Value != "1" && n.N.Value != "2" {
		return "the file descriptor " + n.N.Value
	}
	switch n.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut, syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return ""
	}
	return "the redirection " + n.Op.String()
}
