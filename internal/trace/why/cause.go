package why

import (
	"regexp"
	"slices"
	"strings"
)

// Cause is a root cause: a reason of objects that wait for no other object that waits.
type Cause struct {
	// Kind and Resource are those of the objects.
	Kind     string `json:"kind"`
	Resource string `json:"resource,omitempty"`
	// Objects are the objects that have the cause, as NAMESPACE/NAME or NAME.
	Objects []string `json:"objects"`
	// Text is the reason, without the names of the objects.
	Text string `json:"text"`
	// Next is a suggestion: a remedy, or where to look.
	Next string `json:"next,omitempty"`
	// Progress reports that the cause is expected to pass without help, as a container's start.
	Progress bool `json:"progress,omitempty"`

	root bool // no consequence of another cause
}

// same reports whether two causes differ at most by their objects.
func (c Cause) same(other Cause) bool {
	return c.Kind == other.Kind && c.Text == other.Text && c.Progress == other.Progress
}

// merge adds causes to a list. The objects of equal ones are joined.
func merge(all []Cause, more ...Cause) []Cause {
	for _, c := range more {
		i := slices.IndexFunc(all, c.same)
		if i < 0 {
			c.Objects = slices.Clone(c.Objects)
			all = append(all, c)
			continue
		}
		for _, o := range c.Objects {
			if !slices.Contains(all[i].Objects, o) {
				all[i].Objects = append(all[i].Objects, o)
			}
		}
	}
	return all
}

// problems returns the causes that do not pass without help.
func problems(all []Cause) (out []Cause) {
	for _, c := range all {
		if !c.Progress {
			out = append(out, c)
		}
	}
	return out
}

// problem adds a reason that does not pass without help. next is a suggestion, or "". It may be the consequence of a part's
// problem, which then takes its place among the causes.
func (a *Explanation) problem(s *Subject, text, next string) { a.reason(s, text, next, false) }

// root adds a reason that does not pass without help and is no consequence of another one.
func (a *Explanation) root(s *Subject, text, next string) {
	before := len(a.own)
	a.problem(s, text, next)
	for i := before; i < len(a.own); i++ {
		a.own[i].root = true
	}
}

// pending adds a reason that is expected to pass without help.
func (a *Explanation) pending(s *Subject, text string) { a.reason(s, text, "", true) }

func (a *Explanation) reason(s *Subject, text, next string, progress bool) {
	if text == "" || slices.Contains(a.Reasons, text) {
		return
	}
	a.Reasons = append(a.Reasons, text)
	objects := []string{s.path(s.Name)}
	for _, name := range s.Alike {
		objects = append(objects, s.path(name))
	}
	a.own = append(a.own, Cause{Kind: s.Kind, Resource: s.Resource, Objects: objects, Text: s.anonymous(text), Next: next, Progress: progress})
}

// causes returns the root causes of a subject that waits, by its own reasons and the causes of its parts.
func (a *Explanation) causes(parts []Cause) []Cause {
	if !a.Waits {
		return nil
	}
	var roots []Cause
	for _, c := range a.own {
		if c.root {
			roots = append(roots, c)
		}
	}
	if all := merge(problems(parts), roots...); len(all) > 0 {
		return all
	}
	if own := problems(a.own); len(own) > 0 {
		return own[:1] // the most important reason
	}
	if len(parts) > 0 {
		return parts
	}
	return a.own[:1]
}

// backoff is the delay in the message of a container that crashes, which differs between equal containers.
var backoff = regexp.MustCompile(`back-off [0-9hms.]+ `)

// anonymous returns the text without the names that distinguish an object of a controller from its siblings.
func (s *Subject) anonymous(text string) string {
	if len(s.list("metadata", "ownerReferences")) == 0 {
		return text
	}
	for _, own := range []string{s.text("metadata", "uid"), s.Name} {
		if own != "" {
			text = strings.ReplaceAll(text, own, "*")
		}
	}
	return backoff.ReplaceAllString(text, "back-off ")
}

// path is the path of an object of the subject's namespace.
func (s *Subject) path(name string) string {
	if s.Namespace == "" {
		return name
	}
	return s.Namespace + "/" + name
}
