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

// Remote describes a version of a group that another server serves.
type Remote struct {
	schema.GroupVersion
	// V3 maps the path of each v3 document of that server to its URL. It is nil if the server does not support v3.
	V3 map[string]string
	// V2 is the server's v2 document as returned by Pack, nil if it is unknown; V2Hash is its hash.
	V2     []byte
	V2Hash string
}

// Pack returns a v2 document in a Remote's form, and its hash. It fails if the text is not a v2 document.
func Pack(text []byte) (v2 []byte, hashed string, err error) {
	if err := new(spec.Swagger).UnmarshalJSON(text); err != nil {
		return nil, "", err
	}
	v2, err = compress(text, nil)
	return v2, hash(string(text)), err
}

func (r *Remote) path() string { return "apis/" + r.Group + "/" + r.Version }

// Elsewhere returns the group version of the document at a path if another server has that document.
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

// swagger decodes the v2 document.
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

// converted returns the v3 document converted from the v2 document.
func (r *Remote) converted() ([]byte, error) {
	s, err := r.swagger()
	if err != nil {
		return nil, err
	}
	return json.Marshal(openapiconv.ConvertV2ToV3(s))
}

// merged returns the v2 document of this server and all remotes, each remote contributing the paths of its
// versions. Without remotes it is this server's own, which is not decoded.
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
				continue // an unreadable one does not affect the others
			}
			theirs = aggregator.FilterSpecByPathsWithoutSideEffects(theirs, []string{"/" + r.path() + "/"})
			if err := aggregator.MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters(all, theirs); err != nil {
				return nil, err
			}
		}
		return all.MarshalJSON()
	})
}

// hash returns a short hash of a text.
func hash(of string) string {
	return fmt.Sprintf("%X", sha512.Sum512_256([]byte(of)))
}
