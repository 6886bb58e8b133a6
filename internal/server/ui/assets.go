package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// public are the files that the login page needs.
var public = map[string]bool{"login.js": true, "theme.js": true, "style.css": true, "icon.svg": true}

// file is a served file of the page.
type file struct {
	data      []byte
	tag, kind string
}

// files are the page's files, by name.
var files = func() map[string]file {
	all := map[string]file{}
	err := fs.WalkDir(assets, "assets", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := assets.ReadFile(at)
		digest := sha256.Sum256(data)
		all[path.Base(at)] = file{data, `"` + hex.EncodeToString(digest[:8]) + `"`, kindOf(at)}
		return err
	})
	if err != nil {
		panic(err) // embedded files can always be read
	}
	return all
}()

// kindOf does not use the machine's MIME tables, which vary.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// serveFile serves a file of the page.
func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Cache-Control", "no-cache") // browsers revalidate each time, by its tag
	w.Header().Set("Etag", f.tag)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.data))
}

// isPage reports whether a path belongs to the page.
func isPage(path string) bool {
	return path+"/" == Root || strings.HasPrefix(path, Root) && path != LinksPath
}

// policy allows the page only to load its own files and to make requests to this server. Markup is never made from
// strings.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard sets the headers common to all responses of the page.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}
