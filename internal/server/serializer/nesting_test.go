package serializer

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestTooDeep: bytes that are no message end the descent into them alone, and do not hide what follows.
func TestTooDeep(t *testing.T) {
	field := func(b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
	}
	nest := func(levels int, b []byte) []byte {
		for range levels {
			b = field(b)
		}
		return b
	}
	text := bytes.Repeat([]byte("some text \xff"), 5000)
	for name, c := range map[string]struct {
		message []byte
		want    bool
	}{
		"text":                      {field(text), false},
		"zeros":                     {make([]byte, 1<<20), false},
		"at the limit":              {append(nest(maxLevels, nil), field(text)...), false},
		"beyond it":                 {append(nest(maxLevels+1, nil), field(text)...), true},
		"after text":                {append(field(text), nest(maxLevels+1, text)...), true},
		"followed by no message":    {append(nest(maxLevels+1, text), 0xff, 0xff), true},
		"many messages in sequence": {bytes.Repeat(nest(50, nil), 1000), false},
	} {
		if got := tooDeep(c.message); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
