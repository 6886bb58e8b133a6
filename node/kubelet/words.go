package kubelet

import "strings"

// command is one of a script.
type command struct {
	words []string
	and   bool // the next runs only if this one succeeds
	// strange is set if the text has more of a shell's language than is read here: it is then
	// taken word by word, which is not what a shell does with it.
	strange bool
}

// parse divides a script into commands at ";", "&&" and line ends, and those into words. Quotes
// keep text together.
func parse(text string) (out []command) {
	var c command
	var word strings.Builder
	var quote rune
	inside := false
	endWord := func() {
		if inside {
			c.words = append(c.words, word.String())
		}
		word.Reset()
		inside = false
	}
	end := func(and bool) {
		endWord()
		if c.and = and; len(c.words) > 0 || c.strange {
			out = append(out, c)
		}
		c = command{}
	}
	rest := []rune(text)
	for i := 0; i < len(rest); i++ {
		switch r := rest[i]; {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			c.strange = c.strange || quote == '"' && strings.ContainsRune("$`\\", r)
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case r == ' ' || r == '\t':
			endWord()
		case r == ';' || r == '\n':
			end(false)
		case r == '&' && i+1 < len(rest) && rest[i+1] == '&':
			end(true)
			i++
		default:
			c.strange = c.strange || strings.ContainsRune("|&<>$`(){}*?[]\\#~!", r)
			word.WriteRune(r)
			inside = true
		}
	}
	c.strange = c.strange || quote != 0
	end(false)
	return out
}

// assigns says whether a word sets a variable.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
