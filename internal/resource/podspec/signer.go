package podspec

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// SignerName requires the name of a certificate signer: "example.com/name", where the name may have several parts
// separated by dots.
func SignerName(f *check.Errors, p *check.Path, name string) {
	if name == "" {
		f.Required(p, "")
		return
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		f.Invalid(p, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(name) > 571 {
		f.Add(field.TooLong(p.Field(), "", 571))
	}
	for _, part := range strings.Split(path, ".") {
		for _, msg := range validation.IsDNS1123Label(part) {
			f.Invalid(p, name, fmt.Sprintf("validating label %q: %s", part, msg))
		}
	}
	segments := strings.Split(domain, ".")
	if len(segments) < 2 {
		f.Invalid(p, name, "should be a domain with at least two segments separated by dots")
	}
	for _, msg := range validation.IsDNS1123Subdomain(domain) {
		f.Invalid(p, name, fmt.Sprintf("validating segment %q: %s", domain, msg))
	}
}

// BundleName is the rule for names of ClusterTrustBundles. The name of a bundle of a signer starts with the signer's
// name, with colons for slashes: "example.com:signer:bundle".
func BundleName(name string, prefix bool) []string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	return apivalidation.NameIsDNSSubdomain(name, prefix)
}
