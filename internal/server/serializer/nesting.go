package serializer

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxLevels is how deep the messages of a protobuf body may be nested, as much as objects and arrays of JSON and YAML. The decoder,
// and the rules of a kind that refers to itself, recurse: a stack of a gigabyte ends the process.
const maxLevels = 10_000

// shallow is a decoder that refuses protobuf that is nested too deep.
type shallow struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (s shallow) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	const prefix = 4 // of the envelope
	if len(data) > prefix && tooDeep(data[prefix:]) {
		return nil, nil, fmt.Errorf("exceeded max depth of %d", maxLevels)
	}
	return s.Serializer.Decode(data, defaults, into)
}

// tooDeep reports whether a decoder may descend more than maxLevels into a message. Without its schema each field of bytes may
// be a message, which is read as one until a part of it cannot be. Each byte is read once.
func tooDeep(b []byte) bool {
	if len(b) < 2*maxLevels { // a level has a tag and a length
		return false
	}
	ends := []int{len(b)}
	for at := 0; len(ends) > 0; {
		end := ends[len(ends)-1]
		if at == end {
			ends = ends[:len(ends)-1]
			continue
		}
		_, kind, n := protowire.ConsumeTag(b[at:end])
		if n > 0 && kind == protowire.BytesType {
			size, m := protowire.ConsumeVarint(b[at+n : end])
			if m > 0 && size <= uint64(end-at-n-m) {
				if len(ends) > maxLevels {
					return true
				}
				at += n + m
				ends = append(ends, at+int(size))
				continue
			}
			n = -1
		}
		if n > 0 && kind != protowire.StartGroupType && kind != protowire.EndGroupType {
			if m := protowire.ConsumeFieldValue(1, kind, b[at+n:end]); m < 0 {
				n = -1
			} else {
				n += m
			}
		}
		if n < 0 { // no message
			at = end
			continue
		}
		at += n
	}
	return false
}
