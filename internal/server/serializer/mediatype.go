package serializer

// MediaType is an encoding of request and response bodies.
type MediaType uint8

const (
	JSON MediaType = iota
	YAML
	Protobuf
	CBOR
	mediaTypeCount
)

// MediaTypes holds the names of the media types.
var MediaTypes = [mediaTypeCount]string{
	JSON: "application/json", YAML: "application/yaml", Protobuf: "application/vnd.kubernetes.protobuf", CBOR: "application/cbor",
}

func (m MediaType) String() string { return MediaTypes[m] }

// IsText reports whether objects are encoded as JSON text, which YAML is made of.
func (m MediaType) IsText() bool { return m == JSON || m == YAML }

// StreamType returns the content type of a watch in this media type.
func (m MediaType) StreamType() string {
	switch m {
	case JSON:
		return m.String()
	case CBOR:
		return m.String() + "-seq"
	}
	return m.String() + ";stream=watch"
}
