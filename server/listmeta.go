package server

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/server/codec"
)

// listMeta is the metadata of a list.
type listMeta struct {
	ResourceVersion, Continue string
	// Remaining is 0 if it is not known or there is none.
	Remaining int64
	// ends says that there is no more by an empty Continue, as lists of custom
	// objects do.
	ends bool
}

func (m listMeta) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if m.ResourceVersion != "" {
		dst = append(append(append(dst, `"resourceVersion":"`...), m.ResourceVersion...), '"')
	}
	if m.Continue != "" || m.ends {
		dst = append(append(append(dst, `,"continue":"`...), m.Continue...), '"')
	}
	if m.Remaining > 0 {
		dst = strconv.AppendInt(append(dst, `,"remainingItemCount":`...), m.Remaining, 10)
	}
	return append(dst, '}')
}

// appendProto appends the message of metav1.ListMeta.
func (m listMeta) appendProto(dst []byte) []byte {
	for i, s := range []string{"", m.ResourceVersion, m.Continue} {
		dst = protowire.AppendTag(dst, protowire.Number(i+1), protowire.BytesType)
		dst = protowire.AppendString(dst, s)
	}
	if m.Remaining > 0 {
		dst = protowire.AppendTag(dst, 4, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(m.Remaining))
	}
	return dst
}

// appendCBOR appends the map of metav1.ListMeta.
func (m listMeta) appendCBOR(dst []byte) []byte {
	at, n := len(dst), 0
	dst = append(dst, 0) // its head, which no length of these makes longer
	if m.ResourceVersion != "" {
		dst = codec.AppendCBORString(codec.AppendCBORString(dst, "resourceVersion"), m.ResourceVersion)
		n++
	}
	if m.Continue != "" || m.ends {
		dst = codec.AppendCBORString(codec.AppendCBORString(dst, "continue"), m.Continue)
		n++
	}
	if m.Remaining > 0 {
		dst = codec.AppendCBORHead(codec.AppendCBORString(dst, "remainingItemCount"), 0, int(m.Remaining))
		n++
	}
	codec.AppendCBORHead(dst[:at], codec.CBORMap, n)
	return dst
}
