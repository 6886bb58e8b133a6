package jsonscan

import (
	"bytes"
	"encoding/json"

	"fairlead.dev/internal/rawmem"
)

// Scalar returns the value that begins at b[i] as text: a string's content, or the literal of a number or boolean.
// end is the index after it, -1 if it does not end. ok is false for null, objects and arrays. The text shares b's
// memory if it can, so b must not change as long as the text is in use.
func Scalar(b []byte, i int) (text string, end int, ok bool) {
	if end = Value(b, i); end < 0 {
		return "", -1, false
	}
	switch b[i] {
	case '{', '[', 'n':
		return "", end, false
	case '"':
		return shared(b[i:end]), end, true
	}
	return rawmem.String(b[i:end]), end, true
}

// shared decodes a string, given with its quotes, into memory that it shares with it if it can.
func shared(quoted []byte) string {
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return rawmem.String(inner)
	}
	return Unquote(quoted)
}

// Unquote decodes a string, given with its quotes. It returns "" if an escape in it is invalid. Bytes that
// are not UTF-8 stay as they are.
func Unquote(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	if s, ok := unescape(quoted[1 : len(quoted)-1]); ok {
		return s
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}

// unescape handles escaped quotes and backslashes, the only escapes in most strings that have any.
func unescape(inner []byte) (string, bool) {
	b := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' {
			if i++; i == len(inner) || inner[i] != '"' && inner[i] != '\\' {
				return "", false
			}
		}
		b = append(b, inner[i])
	}
	return string(b), true
}
