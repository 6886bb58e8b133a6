package object

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/storage"
)

// A splice is the place of the resource version in a stored object, and the syntax that must
// surround it there.
type splice struct {
	at   int32
	kind spliceKind
}

var errNotJSON = errors.New("not a JSON object")

type spliceKind uint8

const (
	// intoMetadata: at is just after "metadata":{ and other members follow.
	intoMetadata spliceKind = iota
	// intoEmptyMetadata: at is just after "metadata":{ and } follows.
	intoEmptyMetadata
	// intoObject: there is no metadata; at is just after the opening brace and other members
	// follow.
	intoObject
	// intoEmptyObject: the object is {}; at is just after the opening brace.
	intoEmptyObject
	// nowhere: the value is unreadable.
	nowhere
)

func withValue(kv *storage.KeyValue, value []byte) *storage.KeyValue {
	kv2 := *kv
	kv2.Value = value
	return &kv2
}

// findSplice finds the place of the resource version. null is the place of a metadata that is null,
// otherwise 0.
func findSplice(b []byte) (s splice, null int, err error) {
	i := jsonscan.Space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return splice{}, 0, errNotJSON
	}
	s = splice{int32(i + 1), intoObject}
	m := jsonscan.Walk(b, i)
	for m.Next() {
		if m.Key() != "metadata" {
			m.Skip()
			continue
		}
		switch {
		case m.At < len(b) && b[m.At] == '{':
			s = splice{int32(m.At + 1), intoMetadata}
			if j := jsonscan.Space(b, m.At+1); j < len(b) && b[j] == '}' {
				s.kind = intoEmptyMetadata
			}
			return s, 0, nil
		case bytes.HasPrefix(b[m.At:], []byte("null")):
			return s, m.At, nil
		}
		return splice{}, 0, fmt.Errorf("metadata is %w", errNotJSON)
	}
	if m.Broken {
		return splice{}, 0, errNotJSON
	}
	if !m.Begun {
		s.kind = intoEmptyObject
	}
	return s, 0, nil
}

// mayHoldVersion is a quick test that spares most objects the walk through their metadata: a key is
// either written plainly or with escapes. It looks for the rare letter V, which is several times as
// fast as looking for the whole key among so many quotes.
func mayHoldVersion(b []byte) bool {
	for rest := b; ; {
		i := bytes.IndexByte(rest, 'V')
		if i < 0 {
			break
		}
		if bytes.HasSuffix(rest[:i], []byte(`"resource`)) {
			return true
		}
		rest = rest[i+1:]
	}
	for rest := b; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			return false
		}
		if rest[i+1] == 'u' {
			return true
		}
		rest = rest[i+2:]
	}
}

func holdsVersion(b []byte, s splice) bool {
	m := jsonscan.Walk(b, int(s.at)-1)
	for m.Next() {
		if m.Key() == "resourceVersion" {
			return true
		}
		m.Skip()
	}
	return false
}

// withoutVersion cuts every resourceVersion out of the metadata that begins at s.at.
func withoutVersion(kv *storage.KeyValue, s splice) (*storage.KeyValue, splice, error) {
	b := kv.Value
	cut := append(make([]byte, 0, len(b)), b[:s.at]...)
	kept := 0
	m := jsonscan.Walk(b, int(s.at)-1)
	for m.Next() {
		drop := m.Key() == "resourceVersion"
		if m.Skip(); m.Broken || drop {
			continue
		}
		if kept++; kept > 1 {
			cut = append(cut, ',')
		}
		cut = append(cut, b[m.From:m.At]...)
	}
	if m.Broken {
		return kv, s, errNotJSON
	}
	if kept == 0 {
		s.kind = intoEmptyMetadata
	}
	cut = append(cut, '}')
	return withValue(kv, append(cut, b[m.At:]...)), s, nil
}

// insert appends the value with a resource version.
func (s splice) insert(dst, value []byte, rev storage.Revision) []byte {
	dst = s.appendVersion(append(dst, value[:s.at]...), rev)
	return append(dst, value[s.at:]...)
}

// insertInto inserts a resource version into the value that begins at dst[from].
func (s splice) insertInto(dst []byte, from int, rev storage.Revision) []byte {
	var version [64]byte
	return slices.Insert(dst, from+int(s.at), s.appendVersion(version[:0], rev)...)
}

// appendVersion appends what must be inserted.
func (s splice) appendVersion(dst []byte, rev storage.Revision) []byte {
	if s.kind >= intoObject {
		dst = append(dst, `"metadata":{`...)
	}
	dst = append(dst, `"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, int64(rev), 10)
	dst = append(dst, '"')
	if s.kind >= intoObject {
		dst = append(dst, '}')
	}
	if s.kind == intoMetadata || s.kind == intoObject {
		dst = append(dst, ',')
	}
	return dst
}
