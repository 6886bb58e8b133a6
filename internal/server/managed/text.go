package managed

import (
	"bytes"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/jsonscan"
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
	for w := jsonscan.Walk(text, jsonscan.Space(text, 0)); w.Next(); w.Skip() {
		if bytes.Equal(w.Quote, metadataName) {
			return findInMetadata(text, w.At)
		}
	}
	return 0, 0, nil
}

// findInMetadata is findManagedFields in the metadata that begin at i.
func findInMetadata(text []byte, i int) (from, to int, entries []byte) {
	before := jsonscan.Space(text, i+1)
	for w := jsonscan.Walk(text, i); w.Next(); {
		entries = w.Skip()
		after := jsonscan.Space(text, w.At)
		if !bytes.Equal(w.Quote, entriesName) {
			before = after
			continue
		}
		if after < len(text) && text[after] == ',' {
			return w.From, jsonscan.Space(text, after+1), entries
		}
		return before, after, entries
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
	if jsonscan.Space(text, meta+1) != end-1 {
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
	if begin = jsonscan.Space(text, begin+1); text[begin] != '}' {
		out = append(out, ',')
	}
	return append(out, text[begin:]...)
}

// metadata finds the object's metadata. begin is 0 if it is missing.
func metadata(text []byte) (begin, end int) {
	for w := jsonscan.Walk(text, jsonscan.Space(text, 0)); w.Next(); {
		begin = w.At
		if v := w.Skip(); bytes.Equal(w.Quote, metadataName) {
			if len(v) == 0 || v[0] != '{' {
				return 0, 0
			}
			return begin, w.At
		}
	}
	return 0, 0
}

// Decode decodes a list of entries.
func Decode(text []byte) ([]metav1.ManagedFieldsEntry, error) {
	if len(text) == 0 {
		return nil, nil
	}
	items := jsonscan.Items(nil, text)
	list := make([]metav1.ManagedFieldsEntry, len(items))
	var buf [8]jsonscan.Member
	for i, item := range items {
		e := &list[i]
		for _, m := range jsonscan.Members(buf[:0], item) {
			if m.Value[0] != '"' && !m.Is("fieldsV1") {
				return list, json.Unmarshal(text, &list)
			}
			switch m.Name() {
			case "manager":
				e.Manager = jsonscan.Unquote(m.Value)
			case "operation":
				e.Operation = metav1.ManagedFieldsOperationType(jsonscan.Unquote(m.Value))
			case "apiVersion":
				e.APIVersion = jsonscan.Unquote(m.Value)
			case "time":
				t, err := time.Parse(time.RFC3339, jsonscan.Unquote(m.Value))
				if err != nil {
					return nil, err
				}
				e.Time = &metav1.Time{Time: t.Local()}
			case "fieldsType":
				e.FieldsType = jsonscan.Unquote(m.Value)
			case "subresource":
				e.Subresource = jsonscan.Unquote(m.Value)
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
