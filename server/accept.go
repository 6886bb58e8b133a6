package server

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/codec"
)

// offer has the names of the encodings that a server speaks, by media.
type offer []string

// offered are those of a server with or without CBOR.
func offered(cbor bool) offer {
	if cbor {
		return codec.MediaTypes[:]
	}
	return codec.MediaTypes[:codec.CBOR]
}

// streams are the names of those that a watch can have.
func (o offer) streams() (names []string) {
	for m := range codec.MediaType(len(o)) {
		switch m {
		case codec.YAML:
		case codec.JSON:
			names = append(names, m.String()+";stream=watch")
		default:
			names = append(names, m.StreamType())
		}
	}
	return names
}

// shape is what an object is turned into before it is encoded.
type shape uint8

const (
	asObject shape = iota
	asTable
	asPartial
	asPartialList
)

// accept is the form a client wants its answer in.
type accept struct {
	media  codec.MediaType
	shape  shape
	meta   string // version of meta.k8s.io for the shape
	pretty bool
}

// metaAPIVersion is the apiVersion of a shape that is not the object's own.
func (a accept) metaAPIVersion() string { return metav1.GroupName + "/" + a.meta }

// request is what of a request decides how it can be answered.
type request struct {
	// collection says that it can be watched, which is said when nothing can be
	// served; stream, that it is.
	collection, stream bool
	// custom objects themselves have no protobuf form; their metadata do.
	custom bool
	// noTable says that the kind is none of those with columns.
	noTable bool
}

// negotiate picks the first form of the Accept header that can be served.
func (o offer) negotiate(req *http.Request, q request) (accept, error) {
	header := req.Header.Get("Accept")
	a, ok := accept{}, true
	switch {
	case header == "", header == "*/*", header == "application/json", header == "application/json, */*":
	case !q.custom && (header == "application/vnd.kubernetes.protobuf" || header == "application/vnd.kubernetes.protobuf,application/json"):
		a.media = codec.Protobuf
	default:
		if !q.custom && !o.has(header, q.collection) {
			return a, o.noRepresentation(q.collection)
		}
		a, ok = o.pick(header, q)
	}
	if !ok {
		return a, o.notAcceptable(header, q.stream)
	}
	if a.media.IsText() {
		a.pretty = a.pretty || isPretty(req)
	}
	return a, nil
}

// plain is the form of what is the same to all, such as errors: it has no shape
// but its own. Where nothing fits, it is JSON for a person.
func (o offer) plain(req *http.Request) accept {
	header := req.Header.Get("Accept")
	if header == "" {
		header = "*/*"
	}
	for _, c := range parseAccept(header) {
		for m := range codec.MediaType(len(o)) {
			if a, ok := c.serve(m); ok && c.is(m) && a.shape == asObject && c.params["sv"] == "" {
				a.pretty = m.IsText() && (a.pretty || isPretty(req))
				return a
			}
		}
	}
	return accept{pretty: true}
}

// has says whether the header names a media type, whatever its parameters, that
// can be served at all.
func (o offer) has(header string, collection bool) bool {
	for _, c := range parseAccept(header) {
		if c.kind != "*" && c.any() || slices.Contains(o, c.kind) || collection && slices.Contains(o.streams(), c.kind) {
			return true
		}
	}
	return false
}

func (o offer) pick(header string, q request) (accept, bool) {
	for _, c := range parseAccept(header) {
		for m := range codec.MediaType(len(o)) {
			a, ok := c.serve(m)
			switch {
			case !ok || !c.is(m):
			case q.custom && m == codec.Protobuf && a.shape == asObject:
			case q.noTable && a.shape == asTable:
			default:
				return a, true
			}
		}
	}
	return accept{}, false
}

// clause is one alternative of an Accept header.
type clause struct {
	kind   string
	params map[string]string
	q      float64
}

// any says that every encoding will do.
func (c *clause) any() bool { return c.kind == "*/*" || c.kind == "*" }

// is says whether the clause names the encoding.
func (c *clause) is(m codec.MediaType) bool { return c.any() || c.kind == m.String() }

func parseAccept(header string) []clause {
	var list []clause
	for part := range strings.SplitSeq(header, ",") {
		kind, rest, _ := strings.Cut(part, ";")
		c := clause{kind: strings.TrimSpace(kind), q: 1}
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

// serve says in what form the clause can be met in the encoding, if at all.
func (c *clause) serve(m codec.MediaType) (accept, bool) {
	a := accept{media: m, pretty: c.params["pretty"] == "1"}
	if s := c.params["stream"]; s != "" && (s != "watch" || m == codec.YAML) {
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
	a.meta = v
	switch as {
	case "Table":
		a.shape = asTable
		return a, m.IsText()
	case "PartialObjectMetadata":
		a.shape = asPartial
	case "PartialObjectMetadataList":
		a.shape = asPartialList
	default:
		return a, false
	}
	return a, true
}

// isPretty reads ?pretty; people with a browser or curl get it unasked.
func isPretty(req *http.Request) bool {
	if strings.Contains(req.URL.RawQuery, "pretty") {
		if v := req.URL.Query().Get("pretty"); v != "" {
			pretty, _ := strconv.ParseBool(v)
			return pretty
		}
	}
	agent := req.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// content is the encoding of a request's body.
func (o offer) content(req *http.Request) (codec.MediaType, error) {
	header := req.Header.Get("Content-Type")
	if header == "" {
		return codec.JSON, nil
	}
	kind, _, _ := strings.Cut(header, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	for m := range codec.MediaType(len(o)) {
		if kind == m.String() {
			return m, nil
		}
	}
	return 0, unsupportedMedia(o)
}
