package managed

import (
	"bytes"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/scan"
)

var (
	metadataName = []byte(`"metadata"`)
	entriesName  = []byte(`"managedFields"`)
)

// Cut removes the managed fields from an object's text. rest is the text without them. Without managed fields, entries is nil and rest the text itself.
func Cut(text []byte) (rest, entries []byte) {
	from, to, entries := findManagedFields(text)
	if entries == nil {
		return text, nil
	}
	rest = make([]byte, 0, len(text)-(to-from))
	return append(append(rest, text[:from]...), text[to:]...), entries
}

// SameBut reports whether two objects' texts are equal apart from their managed fields.
func SameBut(a, b []byte) bool {
	fromA, toA, _ := findManagedFields(a)
	fromB, toB, _ := findManagedFields(b)
	return bytes.Equal(a[:fromA], b[:fromB]) && bytes.Equal(a[toA:], b[toB:])
}

// findManagedFields finds the managed fields in an object's text. [from, to) is the range to cut, including a
// comma; it is empty at 0 if the text has no managed fields.
func findManagedFields(text []byte) (from, to int, entries []byte) {
	i := scan.Space(text, 0)
	for i = scan.Space(text, i+1); text[i] == '"'; {
		nameEnd := scan.Value(text, i)
		v := scan.Space(text, scan.Space(text, nameEnd)+1)
		if string(text[i:nameEnd]) == string(metadataName) {
			if text[v] != '{' {
				return 0, 0, nil
			}
			return findInMetadata(text, v)
		}
		if i = scan.Space(text, scan.Value(text, v)); text[i] == ',' {
			i = scan.Space(text, i+1)
		}
	}
	return 0, 0, nil
}

// findInMetadata is findManagedFields in the metadata that begin at i.
func findInMetadata(text []byte, i int) (from, to int, entries []byte) {
	i = scan.Space(text, i+1)
	for before := i; text[i] != '}'; {
		nameEnd := scan.Value(text, i)
		v := scan.Space(text, scan.Space(text, nameEnd)+1)
		vEnd := scan.Value(text, v)
		after := scan.Space(text, vEnd)
		if string(text[i:nameEnd]) == string(entriesName) {
			if text[after] == ',' {
				return i, scan.Space(text, after+1), text[v:vEnd]
			}
			return before, after, text[v:vEnd]
		}
		if before = after; text[after] == ',' {
			i = scan.Space(text, after+1)
		} else {
			i = after
		}
	}
	return 0, 0, nil
}

// Insert adds entries at the end of the metadata of an object without managed fields.
func Insert(text []byte, entries []metav1.ManagedFieldsEntry) []byte {
	meta, end := metadata(text)
	if len(entries) == 0 || meta == 0 {
		return text
	}
	size := 0
	for _, e := range entries {
		size += 192
		if e.FieldsV1 != nil {
			size += len(e.FieldsV1.GetRawBytes())
		}
	}
	out := make([]byte, 0, len(text)+size)
	out = append(out, text[:end-1]...)
	if scan.Space(text, meta+1) != end-1 {
		out = append(out, ',')
	}
	out = append(append(out, entriesName...), ':')
	return append(Append(out, entries), text[end-1:]...)
}

// Versioned adds a resourceVersion at the beginning of the metadata of an object without one.
func Versioned(text []byte, version string) []byte {
	begin, _ := metadata(text)
	if begin == 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+len(version)+24), text[:begin+1]...)
	out = append(append(append(out, `"resourceVersion":"`...), version...), '"')
	if begin = scan.Space(text, begin+1); text[begin] != '}' {
		out = append(out, ',')
	}
	return append(out, text[begin:]...)
}

// metadata finds the object's metadata. begin is 0 if it is missing.
func metadata(text []byte) (begin, end int) {
	i := scan.Space(text, 0)
	for i = scan.Space(text, i+1); text[i] == '"'; {
		nameEnd := scan.Value(text, i)
		v := scan.Space(text, scan.Space(text, nameEnd)+1)
		vEnd := scan.Value(text, v)
		if string(text[i:nameEnd]) == string(metadataName) {
			if text[v] != '{' {
				return 0, 0
			}
			return v, vEnd
		}
		if i = scan.Space(text, vEnd); text[i] == ',' {
			i = scan.Space(text, i+1)
		}
	}
	return 0, 0
}

// Decode decodes a list of entries.
func Decode(text []byte) ([]metav1.ManagedFieldsEntry, error) {
	if len(text) == 0 {
		return nil, nil
	}
	items := scan.Items(nil, text)
	list := make([]metav1.ManagedFieldsEntry, len(items))
	var buf [8]scan.Member
	for i, item := range items {
		e := &list[i]
		for _, m := range scan.Members(buf[:0], item) {
			if m.Value[0] != '"' && !m.Is("fieldsV1") {
				return list, json.Unmarshal(text, &list)
			}
			switch m.Name() {
			case "manager":
				e.Manager = scan.Unquote(m.Value)
			case "operation":
				e.Operation = metav1.ManagedFieldsOperationType(scan.Unquote(m.Value))
			case "apiVersion":
				e.APIVersion = scan.Unquote(m.Value)
			case "time":
				t, err := time.Parse(time.RFC3339, scan.Unquote(m.Value))
				if err != nil {
					return nil, err
				}
				e.Time = &metav1.Time{Time: t.Local()}
			case "fieldsType":
				e.FieldsType = scan.Unquote(m.Value)
			case "subresource":
				e.Subresource = scan.Unquote(m.Value)
			case "fieldsV1":
				e.FieldsV1 = &metav1.FieldsV1{}
				e.FieldsV1.SetRawBytes(m.Value)
			}
		}
	}
	return list, nil
}

// Append appends entries in encoding/json's encoding.
func Append(dst []byte, entries []metav1.ManagedFieldsEntry) []byte {
	dst = append(dst, '[')
	for i := range entries {
		e := &entries[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		begin := len(dst)
		name := func(name string) {
			if len(dst) > begin {
				dst = append(dst, ',')
			}
			dst = append(append(append(dst, '"'), name...), `":`...)
		}
		for _, f := range [...][2]string{{"manager", e.Manager}, {"operation", string(e.Operation)}, {"apiVersion", e.APIVersion}} {
			if f[1] != "" {
				name(f[0])
				dst = appendQuoted(dst, f[1])
			}
		}
		if e.Time != nil {
			name("time")
			dst = append(e.Time.UTC().AppendFormat(append(dst, '"'), time.RFC3339), '"')
		}
		if e.FieldsType != "" {
			name("fieldsType")
			dst = appendQuoted(dst, e.FieldsType)
		}
		if e.FieldsV1 != nil {
			name("fieldsV1")
			if raw := e.FieldsV1.GetRawBytes(); len(raw) > 0 {
				dst = append(dst, raw...)
			} else {
				dst = append(dst, "null"...)
			}
		}
		if e.Subresource != "" {
			name("subresource")
			dst = appendQuoted(dst, e.Subresource)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
