package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/resource"
)

// Handler serves /openapi/v2, /openapi/v3 and the documents below it.
type Handler struct {
	// CBOR describes the encoding as one that the server speaks. It is set before the
	// first request.
	CBOR   bool
	scheme *runtime.Scheme
	mu     struct {
		sync.Mutex
		resources []*resource.Resource
		state     *state // nil if nobody has asked for these resources yet
		before    *state
	}
}

// state is one set of resources and the documents built of it.
type state struct {
	v2    *document
	v3    map[string]*document // by path
	index []byte
	tag   string // of the index
}

// document is one document in its two encodings, each built once.
type document struct {
	source         *source
	made           time.Time
	text, protobuf func() ([]byte, error) // compressed
}

// New returns a Handler for the resources, whose Go types the scheme knows.
func New(resources []*resource.Resource, scheme *runtime.Scheme) *Handler {
	h := &Handler{scheme: scheme}
	h.Set(resources)
	return h
}

// Set replaces what is served. Documents of groups that stay as they were are
// kept. It costs nothing until somebody asks.
func (h *Handler) Set(resources []*resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.resources = resources
	if h.mu.state != nil {
		h.mu.before, h.mu.state = h.mu.state, nil
	}
}

func (h *Handler) current() *state {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.state == nil {
		h.mu.state = newState(h.mu.resources, h.scheme, h.CBOR, h.mu.before)
		h.mu.before = nil
	}
	return h.mu.state
}

func newState(resources []*resource.Resource, scheme *runtime.Scheme, cbor bool, old *state) *state {
	v3, v2 := sources(resources, scheme, cbor)
	s := &state{v3: map[string]*document{}, v2: newDocument(v2)}
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	index := map[string]link{}
	var tags strings.Builder
	for _, src := range v3 {
		d := newDocument(src)
		if old != nil && old.v3[src.path] != nil && old.v3[src.path].source.hash == src.hash {
			d = old.v3[src.path]
		}
		s.v3[src.path] = d
		index[src.path] = link{"/openapi/v3/" + src.path + "?hash=" + src.hash}
		tags.WriteString(src.hash)
	}
	s.index, _ = json.Marshal(map[string]any{"paths": index}) // strings only
	s.tag = (&source{path: tags.String()}).fingerprint()
	return s
}

func newDocument(src *source) *document {
	return &document{
		source:   src,
		made:     time.Now().Truncate(time.Second),
		text:     sync.OnceValues(func() ([]byte, error) { return compress(src.encode(false)) }),
		protobuf: sync.OnceValues(func() ([]byte, error) { return compress(src.encode(true)) }),
	}
}

func compress(data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}

// ServeHTTP answers one request for a document.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.current()
	at := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case at == "/openapi/v2":
		s.v2.serve(w, r, "application/com.github.proto-openapi.spec.v2", s.v2.source.hash)
	case at == "/openapi/v3":
		if !unchanged(w, r, s.tag) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(s.index)
		}
	default:
		d := s.v3[strings.TrimPrefix(at, "/openapi/v3/")]
		if d == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		switch asked := r.URL.Query().Get("hash"); asked {
		case "":
		case d.source.hash: // what is under this URL never changes
			w.Header().Set("Cache-Control", "public, immutable")
			w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
		default:
			http.Redirect(w, r, at+"?hash="+d.source.hash, http.StatusMovedPermanently)
			return
		}
		d.serve(w, r, "application/com.github.proto-openapi.spec.v3", d.source.hash)
	}
}

// unchanged sets the ETag, and ends the request if the client has that.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	return false
}

func (d *document) serve(w http.ResponseWriter, r *http.Request, protobufType, tag string) {
	contentType, build := accept(r.Header.Values("Accept"), protobufType), d.text
	w.Header().Add("Vary", "Accept-Encoding")
	w.Header().Add("Vary", "Accept")
	switch contentType {
	case "":
		w.WriteHeader(http.StatusNotAcceptable)
		return
	case "application/json":
	default:
		build = d.protobuf
	}
	if unchanged(w, r, tag) {
		return
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if r.Header.Get("If-None-Match") == "" && err == nil && !d.made.After(since) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Last-Modified", d.made.UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", contentType)
	data, err := build()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(data)
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	io.Copy(w, z)
}

// accept picks the first form that the client takes; "" if there is none. The
// protobuf type has an older and a newer spelling.
func accept(headers []string, protobufType string) string {
	all := strings.Join(headers, ",")
	if strings.TrimSpace(all) == "" {
		return "application/json"
	}
	for part := range strings.SplitSeq(all, ",") {
		t, _, _ := strings.Cut(part, ";")
		switch t = strings.TrimSpace(t); t {
		case "application/json", "*/*", "application/*":
			return "application/json"
		case protobufType + ".v1.0+protobuf", protobufType + "@v1.0+protobuf":
			return protobufType + ".v1.0+protobuf"
		}
	}
	return ""
}
