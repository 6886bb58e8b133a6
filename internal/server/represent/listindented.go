package represent

import (
	"bytes"
	"encoding/json"

	"fairlead.dev/internal/server/request"
	"fairlead.dev/watchcache"
)

// The lines of an indented list are those of json.Indent of the whole list with this indentation.
const indent = "  "

// indentedHead is Head for an indented list.
func (l *ListWriter) indentedHead(dst []byte, m ListMeta) ([]byte, error) {
	const end = "]\n}"
	b := bytes.NewBuffer(dst)
	if err := json.Indent(b, append(l.Representation.AppendListHead(nil, m), "]}"...), "", indent); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte(end)), nil
}

// indentedItem appends an item of an indented list.
func (l *ListWriter) indentedItem(dst []byte, o *watchcache.Object) (_ []byte, err error) {
	if l.item, err = l.Representation.appendListElement(l.item[:0], o); err != nil {
		return dst, err
	}
	const margin = "\n" + indent + indent
	b := bytes.NewBuffer(append(dst, margin...))
	err = json.Indent(b, l.item, margin[1:], indent)
	return b.Bytes(), err
}

// jsonEnd appends the end of a list in JSON.
func (l *ListWriter) jsonEnd(dst []byte) []byte {
	none := !l.begun && l.Representation.Shape == request.AsPartialList
	if none {
		dst = append(dst[:len(dst)-1], "null"...)
	}
	switch {
	case l.Representation.Pretty && none:
		return append(dst, "\n}"...)
	case l.Representation.Pretty && l.begun:
		return append(dst, "\n"+indent+"]\n}"...)
	case l.Representation.Pretty:
		return append(dst, "]\n}"...)
	case none:
		return append(dst, "}\n"...)
	}
	return append(dst, "]}\n"...)
}
