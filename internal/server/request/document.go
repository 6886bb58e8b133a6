package request

import (
	"net/http"
	"strings"

	"fairlead.dev/internal/server/serializer"
)

// DocumentFormat is the negotiated representation of a document about the server, which is plain text or an object.
type DocumentFormat struct {
	// Text: the client wants plain text, and the other fields have no meaning.
	Text bool
	// Version is that of the object's kind.
	Version string
	Media   serializer.MediaType
	Pretty  bool
}

const plainText = "text/plain"

// NegotiateDocument picks the first alternative of the Accept header that a document has, plain text without one. For an object
// the client must name the kind, its group and one of the versions.
func (o Negotiator) NegotiateDocument(req *http.Request, group, kind string, versions ...string) (DocumentFormat, error) {
	header := req.Header.Get("Accept")
	if strings.TrimSpace(header) == "" {
		return DocumentFormat{Text: true}, nil
	}
	names := Negotiator{serializer.JSON.String(), serializer.YAML.String(), plainText}
	if len(o) > int(serializer.CBOR) {
		names = append(names, serializer.CBOR.String())
	}
	for _, c := range parseAccept(header) {
		if named := c.params["g"] != "" || c.params["v"] != "" || c.params["as"] != ""; !named && (c.any() || c.kind == plainText || c.kind == "text/*") {
			return DocumentFormat{Text: true}, nil
		}
		if c.params["g"] != group || c.params["as"] != kind {
			continue
		}
		for _, v := range versions {
			if m, ok := names.objectMedia(c.kind); ok && c.params["v"] == v {
				return DocumentFormat{Version: v, Media: m, Pretty: m.IsText() && (c.params["pretty"] == "1" || IsPretty(req))}, nil
			}
		}
	}
	return DocumentFormat{}, names.NotAcceptable(header, false)
}

// objectMedia returns the media type of a name among those of the Negotiator.
func (o Negotiator) objectMedia(name string) (serializer.MediaType, bool) {
	for m, of := range serializer.MediaTypes {
		for _, known := range o {
			if of == name && known == name {
				return serializer.MediaType(m), true
			}
		}
	}
	return 0, false
}
