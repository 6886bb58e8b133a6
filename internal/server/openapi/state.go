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

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// state is the documents of one set of resources and remotes.
type state struct {
	v2      *document
	v3      map[string]*document           // by path
	remotes map[string]schema.GroupVersion // by path: the group version whose server has the document
	index   []byte
	tag     string // of the index
}

// document is one document in its two encodings, each built once.
type document struct {
	hash           string
	made           time.Time
	text, protobuf func() ([]byte, error) // compressed
}

// newState reuses the unchanged documents of an older state.
func newState(v3 []*source, v2 *source, remotes []Remote, old *state) *state {
	s := &state{v3: map[string]*document{}, remotes: map[string]schema.GroupVersion{}}
	var before map[string]*document
	if old != nil {
		before = old.v3
	}
	type link struct {
		URL string `json:"serverRelativeURL"`
	}
	index := map[string]link{}
	add := func(path string, d *document) {
		if was := before[path]; was != nil && was.hash == d.hash {
			d = was
		}
		s.v3[path] = d
		index[path] = link{"/openapi/v3/" + path + "?hash=" + d.hash}
	}
	for _, src := range v3 {
		add(src.path, newDocument(src.hash, true, src.encode))
	}
	for i := range remotes {
		r := &remotes[i]
		if r.V3 == nil && r.V2 != nil && s.v3[r.path()] == nil {
			add(r.path(), newDocument(hash(r.V2Hash), true, r.converted))
		}
		for path, url := range r.V3 {
			if _, ok := index[path]; !ok {
				index[path], s.remotes[path] = link{url}, r.GroupVersion
			}
		}
	}
	s.v2 = merged(v2, remotes)
	if old != nil && old.v2.hash == s.v2.hash {
		s.v2 = old.v2
	}
	s.index, _ = json.Marshal(map[string]any{"paths": index}) // strings only, cannot fail
	s.tag = hash(string(s.index))
	return s
}

// newDocument returns a v3 or v2 document whose JSON is built on its first request.
func newDocument(hash string, v3 bool, encode func() ([]byte, error)) *document {
	d := &document{hash: hash, made: time.Now().Truncate(time.Second)}
	d.text = sync.OnceValues(func() ([]byte, error) { return compress(encode()) })
	d.protobuf = sync.OnceValues(func() ([]byte, error) {
		text, err := encode()
		if err != nil {
			return nil, err
		}
		return compress(toProtobuf(text, v3))
	})
	return d
}

func toProtobuf(text []byte, v3 bool) ([]byte, error) {
	if v3 {
		doc, err := openapi_v3.ParseDocument(text)
		if err != nil {
			return nil, err
		}
		return proto.Marshal(doc)
	}
	doc, err := openapi_v2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(doc)
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

func (d *document) serve(w http.ResponseWriter, r *http.Request, protobufType string) {
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
	if unchanged(w, r, d.hash) {
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
