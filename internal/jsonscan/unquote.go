package jsonscan

import (
	"bytes"
	"encoding/json"
)

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
