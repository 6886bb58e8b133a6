// Package plain recognizes most well-formed names quickly.
//
// Each function returns true only for names that apimachinery's rule accepts, and for nearly all of them. Names for
// which it returns false are left to that rule, which also words the errors. The rules are regular expressions; a
// write checks dozens of names, nearly all of them valid.
package plain

import "strings"

// Label checks DNS labels (RFC 1123).
func Label(s string) bool {
	return len(s) <= 63 && labels(s, false)
}

// Subdomain checks DNS subdomains (RFC 1123).
func Subdomain(s string) bool {
	return len(s) <= 253 && labels(s, true)
}

// labels reports whether s is a lower-case label or, with dots, a series of labels.
func labels(s string, dots bool) bool {
	edge := true // at the start of a label
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

// LabelValue checks values of labels.
func LabelValue(s string) bool { return s == "" || name(s) }

// Qualified checks keys of labels and other qualified names.
func Qualified(s string) bool {
	if prefix, rest, ok := strings.Cut(s, "/"); ok {
		return Subdomain(prefix) && name(rest)
	}
	return name(s)
}

// QualifiedAnyCase is Qualified for the name in lower case.
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

// Labels checks keys and values of labels.
func Labels(labels map[string]string) bool {
	for k, v := range labels {
		if !Qualified(k) || !LabelValue(v) {
			return false
		}
	}
	return true
}

// PortName checks names of ports (IANA service names).
func PortName(s string) bool {
	letter, hyphen := false, true // hyphen: after one, or at the beginning
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
