package images

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// imageName matches names of images, with their registry.
var imageName = sync.OnceValue(func() *regexp.Regexp {
	const (
		label  = `[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?`
		host   = `(?:` + label + `(?:\.` + label + `)*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`
		part   = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		tag    = `\w[\w.-]{0,127}`
		digest = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}`
	)
	return regexp.MustCompile(`^` + host + `/` + part + `(?:/` + part + `)*(?::` + tag + `)?(?:@` + digest + `)?$`)
})

// NameError returns the error in the name of an image; "" for a valid or empty name.
func NameError(image string) string {
	if image == "" {
		return ""
	}
	host, rest, ok := strings.Cut(image, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" && strings.ToLower(host) == host {
		host, rest = "docker.io", image
	}
	if host == "docker.io" && !strings.Contains(rest, "/") {
		rest = "library/" + rest
	}
	switch name, _, _ := strings.Cut(rest, ":"); {
	case strings.ToLower(name) != name:
		return "invalid reference format: repository name (" + name + ") must be lowercase"
	case !imageName().MatchString(host + "/" + rest):
		return "invalid reference format"
	}
	return ""
}

// missing are the words of a name or a tag that mark an image as missing.
var missing = []string{"nonexistent", "non-existent", "does-not-exist", "404"}

// IsMissing reports whether an image cannot be pulled: nginx:does-not-exist, nonexistent/nginx.
func IsMissing(image string) bool {
	image, _, _ = strings.Cut(image, "@")
	return slices.ContainsFunc(strings.FieldsFunc(image, func(r rune) bool { return r == '/' || r == ':' }), func(part string) bool {
		return slices.Contains(missing, part)
	})
}

// ID returns the name of an image with a digest made from name and tag.
func ID(image string) string {
	if strings.Contains(image, "@") {
		return image
	}
	name := image
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		name = image[:i]
	}
	return fmt.Sprintf("%s@sha256:%x", name, sha256.Sum256([]byte(image)))
}
