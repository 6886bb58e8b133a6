package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Remote is what another server, which serves a version of a group, says of itself.
type Remote struct {
	schema.GroupVersion
	// V3 are its documents of v3, the URL of each by its path; nil if it knows no v3.
	V3 map[string]string
	// V2 is its document of v2, see Pack; nil if it is not known. V2Hash is of what is in it.
	V2     []byte
	V2Hash string
}

// Pack is a document of v2 as a Remote has it, and its hash. It fails if the text is no
// such document.
func Pack(text []byte) (v2 []byte, hashed string, err error) {
	if err := new(spec.Swagger).UnmarshalJSON(text); err != nil {
		return nil, "", err
	}
	v2, err = compress(text, nil)
	return v2, hash(string(text)), err
}

func (r *Remote) path() string { return "apis/" + r.Group + "/" + r.Version }

// Elsewhere says which version of a group the document at a path is of, if the server of
// that has it.
func (h *Handler) Elsewhere(path string) (gv schema.GroupVersion, ok bool) {
	h.mu.Lock()
	none := len(h.mu.remotes) == 0
	h.mu.Unlock()
	if none {
		return gv, false
	}
	gv, ok = h.current().remotes[strings.Trim(strings.TrimPrefix(path, "/openapi/v3/"), "/")]
	return gv, ok
}

// swagger reads the document of v2.
func (r *Remote) swagger() (*spec.Swagger, error) {
	z, err := gzip.NewReader(bytes.NewReader(r.V2))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	s := &spec.Swagger{}
	return s, s.UnmarshalJSON(text)
}

// converted is the document of v3 that can be made of that of v2.
func (r *Remote) converted() ([]byte, error) {
	s, err := r.swagger()
	if err != nil {
		return nil, err
	}
	return json.Marshal(openapiconv.ConvertV2ToV3(s))
}

// merged is the document of v2 of this server and all others: of them what is below
// their versions. Without others it is this server's as it stands, and never decoded.
func merged(own *source, remotes []Remote) *document {
	hashes := own.hash
	var known []*Remote
	for i := range remotes {
		if r := &remotes[i]; r.V2 != nil {
			known = append(known, r)
			hashes += " " + r.path() + " " + r.V2Hash
		}
	}
	if len(known) == 0 {
		return newDocument(own.hash, false, own.encode)
	}
	return newDocument(hash(hashes), false, func() ([]byte, error) {
		text, err := own.encode()
		if err != nil {
			return nil, err
		}
		all := &spec.Swagger{}
		if err := all.UnmarshalJSON(text); err != nil {
			return nil, err
		}
		for _, r := range known {
			theirs, err := r.swagger()
			if err != nil {
				continue // one that cannot be read says nothing of the others
			}
			theirs = aggregator.FilterSpecByPathsWithoutSideEffects(theirs, []string{"/" + r.path() + "/"})
			if err := aggregator.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(all, theirs); err != nil {
				return nil, err
			}
		}
		return all.MarshalJSON()
	})
}

// hash is short for what it is of.
func hash(of string) string {
	return fmt.Sprintf("%X", sha512.Sum512_256([]byte(of)))
}
