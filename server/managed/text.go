package managed

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/server/internal/scan"
)

var (
	metadataName = []byte(`"metadata"`)
	entriesName  = []byte(`"managedFields"`)
)

// Cut takes the entries out of an object's text. rest is the text without them;
// entries is nil, and rest the text itself, if there are none.
func Cut(text []byte) (rest, entries []byte) {
	meta, end := metadata(text)
	if meta == 0 {
		return text, nil
	}
	m := text[meta:end]
	i := scan.Space(m, 1)
	for before := i; m[i] != '}'; {
		nameEnd := scan.Value(m, i)
		v := scan.Space(m, scan.Space(m, nameEnd)+1)
		vEnd := scan.Value(m, v)
		after := scan.Space(m, vEnd)
		if string(m[i:nameEnd]) == string(entriesName) {
			if m[after] == ',' {
				before, after = i, scan.Space(m, after+1) // the comma behind goes with it
			}
			rest = make([]byte, 0, len(text))
			rest = append(append(rest, text[:meta+before]...), text[meta+after:]...)
			return rest, m[v:vEnd]
		}
		if before = after; m[after] == ',' {
			i = scan.Space(m, after+1)
		} else {
			i = after
		}
	}
	return text, nil
}

// Insert puts entries into an object's text, which has none, at the end of its
// metadata.
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

// metadata finds the object's metadata; begin is 0 if there are none.
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

// Decode reads the text of entries.
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
				e.FieldsV1.SetRawBytes(slices.Clone(m.Value))
			}
		}
	}
	return list, nil
}

// Append appends the text of entries as encoding/json writes it.
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
