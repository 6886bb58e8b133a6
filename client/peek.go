package client

import "bytes"

// identity finds uid and resourceVersion of an object's JSON, where servers put them: behind
// kind and version, in metadata, before all that is no plain text. Any other form it gives up on.
func identity(raw []byte) (uid, revision []byte, ok bool) {
	in := ""
	for {
		name, value, rest, ok := plainMember(raw)
		switch {
		case !ok:
			return nil, nil, false
		case value == nil && in == "" && string(name) == "metadata":
			in = "metadata"
		case value == nil:
			return nil, nil, false
		case in != "" && string(name) == "uid":
			uid = value
		case in != "" && string(name) == "resourceVersion":
			revision = value
		}
		if len(uid) > 0 && len(revision) > 0 {
			return uid, revision, true
		}
		raw = rest
	}
}

// plainMember cuts the first member off an object that begins here or goes on: its name, and its
// value if that is a text without escapes, else nil for an object, whose inside is then the rest.
func plainMember(b []byte) (name, value, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '{' && b[0] != ',' {
		return nil, nil, nil, false
	}
	name, b, ok = plainText(b[1:])
	if !ok || len(b) < 2 || b[0] != ':' {
		return nil, nil, nil, false
	}
	if b[1] == '{' {
		return name, nil, b[1:], true
	}
	value, rest, ok = plainText(b[1:])
	return name, value, rest, ok
}

// plainText cuts a text in quotes off that has no escapes.
func plainText(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"') + 1
	if end == 0 || bytes.IndexByte(b[1:end], '\\') >= 0 {
		return nil, nil, false
	}
	return b[1:end:end], b[end+1:], true
}
