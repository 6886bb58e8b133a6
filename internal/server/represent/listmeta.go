package represent

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/server/serializer"
)

// ListMeta is the metadata of a list.
type ListMeta struct {
	ResourceVersion, Continue string
	// Remaining is 0 if it is unknown or there are no more items.
	Remaining int64
	// ends: the last page has an empty continue token, as in lists of custom objects.
	ends bool
}

func (m ListMeta) appendJSON(dst []byte) []byte {
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

// appendProto appends the protobuf message of metav1.ListMeta.
func (m ListMeta) appendProto(dst []byte) []byte {
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

// appendCBOR appends the CBOR map of metav1.ListMeta.
func (m ListMeta) appendCBOR(dst []byte) []byte {
	at, n := len(dst), 0
	dst = append(dst, 0) // its head, which no length of these makes longer
	if m.ResourceVersion != "" {
		dst = serializer.AppendCBORString(serializer.AppendCBORString(dst, "resourceVersion"), m.ResourceVersion)
		n++
	}
	if m.Continue != "" || m.ends {
		dst = serializer.AppendCBORString(serializer.AppendCBORString(dst, "continue"), m.Continue)
		n++
	}
	if m.Remaining > 0 {
		dst = serializer.AppendCBORHead(serializer.AppendCBORString(dst, "remainingItemCount"), 0, int(m.Remaining))
		n++
	}
	serializer.AppendCBORHead(dst[:at], serializer.CBORMap, n)
	return dst
}
