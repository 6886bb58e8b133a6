package server

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// media is an encoding of bodies.
type media uint8

const (
	mediaJSON media = iota
	mediaYAML
	mediaProto
	mediaCBOR
	mediaCount
)

var mediaNames = [mediaCount]string{
	mediaJSON: "application/json", mediaYAML: "application/yaml", mediaProto: "application/vnd.kubernetes.protobuf", mediaCBOR: "application/cbor",
}

func (m media) String() string { return mediaNames[m] }

// text says that elements of the encoding are JSON.
func (m media) text() bool { return m == mediaJSON || m == mediaYAML }

// offer has the names of the encodings that a server speaks, by media.
type offer []string

// offered are those of a server with or without CBOR.
func offered(cbor bool) offer {
	if cbor {
		return mediaNames[:]
	}
	return mediaNames[:mediaCBOR]
}

// streams are the names of those that a watch can have.
func (o offer) streams() (names []string) {
	for m := range media(len(o)) {
		switch m {
		case mediaYAML:
		case mediaJSON:
			names = append(names, m.String()+";stream=watch")
		default:
			names = append(names, m.streamType())
		}
	}
	return names
}

// streamType is the content type of a watch in this encoding.
func (m media) streamType() string {
	switch m {
	case mediaJSON:
		return m.String()
	case mediaCBOR:
		return m.String() + "-seq"
	}
	return m.String() + ";stream=watch"
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
	media  media
	shape  shape
	meta   string // version of meta.k8s.io for the shape
	pretty bool
}

// metaAPIVersion is the apiVersion of a shape that is not the object's own.
func (a accept) metaAPIVersion() string { return metav1.GroupName + "/" + a.meta }

// negotiate picks the first form of the Accept header that can be served. Custom
// objects themselves have no protobuf form; their metadata do.
// A collection can be watched, and says so when nothing else can be served.
func (o offer) negotiate(req *http.Request, collection, stream, custom bool) (accept, error) {
	header := req.Header.Get("Accept")
	a, ok := accept{}, true
	switch {
	case header == "", header == "*/*", header == "application/json", header == "application/json, */*":
	case !custom && (header == "application/vnd.kubernetes.protobuf" || header == "application/vnd.kubernetes.protobuf,application/json"):
		a.media = mediaProto
	default:
		if !o.has(header, collection) {
			return a, o.noRepresentation(collection)
		}
		a, ok = o.pick(header, stream, custom)
	}
	if !ok {
		return a, o.notAcceptable(header, stream)
	}
	if a.media.text() {
		a.pretty = a.pretty || isPretty(req)
	}
	return a, nil
}

// has says whether the header names a media type, whatever its parameters, that
// can be served at all.
func (o offer) has(header string, collection bool) bool {
	for _, c := range parseAccept(header) {
		if c.kind == "*/*" || slices.Contains(o, c.kind) || collection && slices.Contains(o.streams(), c.kind) {
			return true
		}
	}
	return false
}

func (o offer) pick(header string, stream, custom bool) (accept, bool) {
	for _, c := range parseAccept(header) {
		for m := range media(len(o)) {
			if stream && m == mediaYAML {
				continue
			}
			if c.kind != "*/*" && c.kind != m.String() {
				continue
			}
			if a, ok := c.serve(m); ok && !(custom && m == mediaProto && a.shape == asObject) {
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

func parseAccept(header string) []clause {
	var list []clause
	for part := range strings.SplitSeq(header, ",") {
		kind, rest, _ := strings.Cut(part, ";")
		c := clause{kind: strings.TrimSpace(kind), q: 1}
		if c.kind == "*" {
			c.kind = "*/*"
		}
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
func (c *clause) serve(m media) (accept, bool) {
	a := accept{media: m, pretty: c.params["pretty"] == "1"}
	if s := c.params["stream"]; s != "" && (s != "watch" || m == mediaYAML) {
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
		return a, m.text()
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
func (o offer) content(req *http.Request) (media, error) {
	kind, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind == "" {
		return mediaJSON, nil
	}
	for m := range media(len(o)) {
		if kind == m.String() {
			return m, nil
		}
	}
	return 0, unsupportedMedia(o)
}
