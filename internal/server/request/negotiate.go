package request

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/apistatus"
	"fairlead.dev/internal/server/serializer"
)

// Negotiator holds the names of the media types that a server speaks, indexed by
// serializer.MediaType.
type Negotiator []string

// NewNegotiator returns that of a server with or without CBOR.
func NewNegotiator(cbor bool) Negotiator {
	if cbor {
		return serializer.MediaTypes[:]
	}
	return serializer.MediaTypes[:serializer.CBOR]
}

// streams returns the content types that a watch may have.
func (o Negotiator) streams() (names []string) {
	for m := range serializer.MediaType(len(o)) {
		switch m {
		case serializer.YAML:
		case serializer.JSON:
			names = append(names, m.String()+";stream=watch")
		default:
			names = append(names, m.StreamType())
		}
	}
	return names
}

// Shape is the kind of object that a response shows: the object itself, a Table, or its
// metadata alone.
type Shape uint8

const (
	AsObject Shape = iota
	AsTable
	AsPartial
	AsPartialList
)

// ResponseFormat is the negotiated representation of a response.
type ResponseFormat struct {
	Media       serializer.MediaType
	Shape       Shape
	MetaVersion string // version of meta.k8s.io for the shape
	Pretty      bool
}

// MetaAPIVersion returns the apiVersion of a Table or a PartialObjectMetadata.
func (a ResponseFormat) MetaAPIVersion() string { return metav1.GroupName + "/" + a.MetaVersion }

// Constraints are the properties of a request that limit its response formats.
type Constraints struct {
	// Collection: the path can be watched, so an error lists the stream types, too. Stream: it
	// is a watch.
	Collection, Stream bool
	// Custom: objects have no protobuf form. Their metadata alone have one.
	Custom bool
	// NoTable: the kind has no table.
	NoTable bool
}

// Negotiate picks the first alternative of the Accept header that can be served.
func (o Negotiator) Negotiate(req *http.Request, q Constraints) (ResponseFormat, error) {
	header := req.Header.Get("Accept")
	a, ok := ResponseFormat{}, true
	switch {
	case header == "", header == "*/*", header == "application/json", header == "application/json, */*":
	case !q.Custom && (header == "application/vnd.kubernetes.protobuf" || header == "application/vnd.kubernetes.protobuf,application/json"):
		a.Media = serializer.Protobuf
	default:
		if !q.Custom && !o.Serves(header, q.Collection) {
			return a, o.NotServed(q.Collection)
		}
		a, ok = o.pick(header, q)
	}
	if !ok {
		return a, o.NotAcceptable(header, q.Stream)
	}
	if a.Media.IsText() {
		a.Pretty = a.Pretty || IsPretty(req)
	}
	return a, nil
}

// ForStatus picks the format of an error or another Status, which has no shape but its own. If
// no alternative fits, it is indented JSON.
func (o Negotiator) ForStatus(req *http.Request) ResponseFormat {
	header := req.Header.Get("Accept")
	if header == "" {
		header = "*/*"
	}
	for _, c := range parseAccept(header) {
		for m := range serializer.MediaType(len(o)) {
			if a, ok := c.serve(m); ok && c.is(m) && a.Shape == AsObject && c.params["sv"] == "" {
				a.Pretty = m.IsText() && (a.Pretty || IsPretty(req))
				return a
			}
		}
	}
	return ResponseFormat{Pretty: true}
}

// Serves reports whether the header names a media type that is served at all, whatever its
// parameters.
func (o Negotiator) Serves(header string, collection bool) bool {
	for _, c := range parseAccept(header) {
		if c.kind != "*" && c.any() || slices.Contains(o, c.kind) || collection && slices.Contains(o.streams(), c.kind) {
			return true
		}
	}
	return false
}

// pick returns the first alternative that can be served.
func (o Negotiator) pick(header string, q Constraints) (ResponseFormat, bool) {
	for _, c := range parseAccept(header) {
		for m := range serializer.MediaType(len(o)) {
			a, ok := c.serve(m)
			switch {
			case !ok || !c.is(m):
			case q.Custom && m == serializer.Protobuf && a.Shape == AsObject:
			case q.NoTable && a.Shape == AsTable:
			default:
				return a, true
			}
		}
	}
	return ResponseFormat{}, false
}

// acceptClause is one alternative of an Accept header.
type acceptClause struct {
	kind   string
	params map[string]string
	q      float64
}

// any reports whether the clause takes every media type.
func (c *acceptClause) any() bool { return c.kind == "*/*" || c.kind == "*" }

// is reports whether the clause takes the media type.
func (c *acceptClause) is(m serializer.MediaType) bool { return c.any() || c.kind == m.String() }

// parseAccept returns the alternatives of an Accept header, the preferred ones first.
func parseAccept(header string) []acceptClause {
	var list []acceptClause
	for part := range strings.SplitSeq(header, ",") {
		kind, rest, _ := strings.Cut(part, ";")
		c := acceptClause{kind: strings.TrimSpace(kind), q: 1}
		for p := range strings.SplitSeq(rest, ";") {
			k, v, ok := strings.Cut(strings.TrimSpace(p), "=")
			switch {
			case !ok:
			case k == "q":
				if q, err := strconv.ParseFloat(v, 64); err == nil {
					c.q = q
				}
			default:
				if c.params == nil {
					c.params = map[string]string{}
				}
				c.params[k] = v
			}
		}
		list = append(list, c)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].q > list[j].q })
	return list
}

// serve returns the format that the clause asks for in a media type; ok is false if there is
// none.
func (c *acceptClause) serve(m serializer.MediaType) (ResponseFormat, bool) {
	a := ResponseFormat{Media: m, Pretty: c.params["pretty"] == "1"}
	if s := c.params["stream"]; s != "" && (s != "watch" || m == serializer.YAML) {
		return a, false
	}
	if v := c.params["sv"]; v != "" && v != "v1" {
		return a, false
	}
	as, hasAs := c.params["as"]
	g, hasG := c.params["g"]
	v, hasV := c.params["v"]
	if !hasAs && !hasG && !hasV {
		return a, true
	}
	if g != metav1.GroupName || v != "v1" && v != "v1beta1" {
		return a, false
	}
	a.MetaVersion = v
	switch as {
	case "Table":
		a.Shape = AsTable
		return a, m.IsText()
	case "PartialObjectMetadata":
		a.Shape = AsPartial
	case "PartialObjectMetadataList":
		a.Shape = AsPartialList
	default:
		return a, false
	}
	return a, true
}

// IsPretty reads the parameter pretty. Browsers, curl and wget get indented JSON by default.
func IsPretty(req *http.Request) bool {
	if strings.Contains(req.URL.RawQuery, "pretty") {
		if v := req.URL.Query().Get("pretty"); v != "" {
			pretty, _ := strconv.ParseBool(v)
			return pretty
		}
	}
	agent := req.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// ContentType returns the media type of a request's body.
func (o Negotiator) ContentType(req *http.Request) (serializer.MediaType, error) {
	header := req.Header.Get("Content-Type")
	if header == "" {
		return serializer.JSON, nil
	}
	kind, _, _ := strings.Cut(header, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	for m := range serializer.MediaType(len(o)) {
		if kind == m.String() {
			return m, nil
		}
	}
	return 0, apistatus.UnsupportedMediaType(o)
}

// NotServed returns the error for an Accept header that names no media type of the server.
func (o Negotiator) NotServed(collection bool) error {
	names := []string(o)
	if collection {
		names = append(slices.Clone(names), o.streams()...)
	}
	err := apistatus.New(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(names, ", "))
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// NotAcceptable returns the error for an Accept header that asks for a known media type in a
// form that it does not have.
func (o Negotiator) NotAcceptable(header string, stream bool) error {
	names := []string(o)
	if stream {
		if _, ok := o.pick(header, Constraints{}); ok {
			names = o.streams()
		}
	}
	return apistatus.New(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(names, ", "))
}
