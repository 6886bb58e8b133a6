package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed assets
var assets embed.FS

// public are the files that the login page needs.
var public = map[string]bool{"login.js": true, "theme.js": true, "style.css": true, "icon.svg": true}

// tags are the entity tags of the page's files, by name.
var tags = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	files, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // embedded files can always be read
	}
	for _, f := range files {
		data, err := assets.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(err)
		}
		digest := sha256.Sum256(data)
		all[f.Name()] = `"` + hex.EncodeToString(digest[:8]) + `"`
	}
	return all
})

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
	tag, ok := tags()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f, err := assets.Open("assets/" + name)
	if err != nil {
		panic(err) // it has a tag
	}
	w.Header().Set("Content-Type", kindOf(name))
	w.Header().Set("Cache-Control", "no-cache") // browsers revalidate each time, by its tag
	w.Header().Set("Etag", tag)
	http.ServeContent(w, r, name, time.Time{}, f.(io.ReadSeeker))
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
