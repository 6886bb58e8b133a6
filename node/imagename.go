package node

import (
	"regexp"
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

// imageNameError returns the error in the name of an image; "" for a valid or empty name.
func imageNameError(image string) string {
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
