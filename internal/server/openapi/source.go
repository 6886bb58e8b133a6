package openapi

import (
	"crypto/sha512"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// format is part of every hash. It is incremented when this package produces other documents from the same
// resources and types.
const format = "2"

// source holds the inputs of one document.
type source struct {
	path   string   // "api/v1", "apis/apps", "apis/apps/v1", "version"; "" for the v2 document
	groups []string // groups with their own paths in this document
	rows   []row
	scheme *runtime.Scheme
	cbor   bool
	hash   string
}

type row struct {
	resource *resource.Resource
	version  resource.Version
}

// sources returns the sources of the v3 documents, sorted by path, and of the v2 document.
func sources(resources []*resource.Resource, scheme *runtime.Scheme, cbor bool) (v3 []*source, v2 *source) {
	byPath := map[string]*source{}
	for at := range roots {
		byPath[at] = &source{path: at, scheme: scheme, cbor: cbor}
	}
	v2 = &source{scheme: scheme, cbor: cbor}
	for _, r := range resources {
		for _, v := range r.Versions {
			at := "apis/" + r.Group + "/" + v.Name
			if r.Group == "" {
				at = "api/" + v.Name
			}
			if root := "apis/" + r.Group; r.Group != "" && r.Custom == nil && byPath[root] == nil {
				byPath[root] = &source{path: root, groups: []string{r.Group}, scheme: scheme, cbor: cbor}
				v2.groups = append(v2.groups, r.Group)
			}
			if byPath[at] == nil {
				byPath[at] = &source{path: at, scheme: scheme, cbor: cbor}
			}
			byPath[at].rows = append(byPath[at].rows, row{r, v})
			v2.rows = append(v2.rows, row{r, v})
		}
	}
	for _, s := range byPath {
		s.hash = s.fingerprint()
		v3 = append(v3, s)
	}
	slices.SortFunc(v3, func(a, b *source) int { return strings.Compare(a.path, b.path) })
	v2.hash = v2.fingerprint()
	return v3, v2
}

// fingerprint hashes everything that the document depends on: the rows, and the build, which determines the Go
// types and this package.
func (s *source) fingerprint() string {
	h := sha512.New512_256()
	fmt.Fprintln(h, format, build(), s.path, s.cbor)
	for _, r := range s.rows {
		fmt.Fprintln(h, r.resource.GVK(r.version.Name), r.resource.Plural, r.resource.Namespaced, r.resource.Verbs, r.resource.Subresources)
		if c := r.resource.Custom; c != nil {
			fmt.Fprintln(h, c.Tag())
		}
	}
	return fmt.Sprintf("%X", h.Sum(nil))
}

// build lists the versions of the modules that types come from.
var build = sync.OnceValue(func() string {
	var b strings.Builder
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, m := range bi.Deps {
			if strings.HasPrefix(m.Path, "k8s.io/api") {
				b.WriteString(m.Path + "@" + m.Version + " ")
			}
		}
		for _, s := range bi.Settings {
			if strings.HasPrefix(s.Key, "vcs.") {
				b.WriteString(s.Value + " ")
			}
		}
	}
	return b.String()
})

// encode builds the document as JSON.
func (s *source) encode() ([]byte, error) {
	b := newBuilder(s.scheme)
	b.defs.shown = s.shown()
	seen := map[string]bool{}
	for _, r := range s.rows {
		if gv := r.resource.Group + "/" + r.version.Name; !seen[gv] {
			seen[gv] = true
			b.listing(r.resource.Group, r.version.Name)
		}
		b.add(r.resource, r.version)
	}
	for _, g := range s.groups {
		b.group(g)
	}
	v3 := s.path != ""
	for at, add := range roots {
		if !v3 || s.path == at {
			add(b)
		}
	}
	if s.cbor {
		b.addCBOR()
	}
	return b.encode(v3)
}

// shown selects the kinds of a multi-group type that belong to this document: those of the core group and of the
// document's own version. Documents of custom kinds and the v2 document have all.
func (s *source) shown() func(schema.GroupVersionKind) bool {
	if s.path == "" || len(s.rows) > 0 && s.rows[0].resource.Custom != nil {
		return nil
	}
	return func(k schema.GroupVersionKind) bool {
		return k.Group == "" || len(s.rows) > 0 && k.GroupVersion() == s.rows[0].resource.GVK(s.rows[0].version.Name).GroupVersion()
	}
}
