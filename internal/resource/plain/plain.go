// Package plain knows well-formed names at a glance.
//
// Each function says true only of what apimachinery's rule of that name accepts, and
// of nearly all of it. What they say false of is left to that rule, which also has the
// words for what is wrong. Rules are regular expressions there; a write checks dozens of
// names, nearly all of them good.
package plain

import "strings"

// Label is for DNS labels (RFC 1123).
func Label(s string) bool {
	return len(s) <= 63 && labels(s, false)
}

// Subdomain is for DNS subdomains (RFC 1123).
func Subdomain(s string) bool {
	return len(s) <= 253 && labels(s, true)
}

// labels says that s is a label of lower case, or with dots several.
func labels(s string, dots bool) bool {
	edge := true // behind what begins a label
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			edge = false
		case edge:
			return false
		case c == '-':
			if i+1 == len(s) || s[i+1] == '.' {
				return false
			}
		case c == '.' && dots:
			edge = true
		default:
			return false
		}
	}
	return !edge
}

// LabelValue is for the values of labels.
func LabelValue(s string) bool { return s == "" || name(s) }

// Qualified is for keys of labels and other qualified names.
func Qualified(s string) bool {
	if prefix, rest, ok := strings.Cut(s, "/"); ok {
		return Subdomain(prefix) && name(rest)
	}
	return name(s)
}

// QualifiedAnyCase is Qualified of the name in lower case.
func QualifiedAnyCase(s string) bool {
	if strings.IndexByte(s, '/') < 0 {
		return name(s)
	}
	return Qualified(strings.ToLower(s))
}

func name(s string) bool {
	if len(s) == 0 || len(s) > 63 || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
}

// Labels is for keys and values of labels.
func Labels(labels map[string]string) bool {
	for k, v := range labels {
		if !Qualified(k) || !LabelValue(v) {
			return false
		}
	}
	return true
}

// PortName is for names of ports (IANA service names).
func PortName(s string) bool {
	letter, hyphen := false, true // hyphen: behind one, or at the beginning
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			letter, hyphen = true, false
		case c >= '0' && c <= '9':
			hyphen = false
		case c == '-' && !hyphen:
			hyphen = true
		default:
			return false
		}
	}
	return letter && !hyphen && len(s) <= 15
}
