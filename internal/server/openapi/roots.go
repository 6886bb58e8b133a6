package openapi

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// listing adds the discovery document of a group version.
func (b *builder) listing(group, ver string) {
	at := "/apis/" + group + "/" + ver + "/"
	if group == "" {
		at = "/api/" + ver + "/"
	}
	b.about(at, "get"+idGroup(group, ver)+"APIResources", "get available resources", tag(group, ver), reflect.TypeFor[metav1.APIResourceList]())
}

// about adds the path of a discovery document.
func (b *builder) about(at, id, description, tag string, answer reflect.Type) {
	b.paths = append(b.paths, path{path: at, operations: []operation{{
		method: "get", id: id, description: description, tag: tag, answer: b.defs.define(answer), codes: ok,
		group: answer != reflect.TypeFor[metav1.APIResourceList](),
	}}})
}

// group adds /apis/GROUP/.
func (b *builder) group(group string) {
	id := idGroup(group, "")
	b.about("/apis/"+group+"/", "get"+id+"APIGroup", "get information of a group", strings.TrimSuffix(tag(group, ""), "_"), reflect.TypeFor[metav1.APIGroup]())
}

// roots are the paths outside of the groups, by their v3 document.
var roots = map[string]func(b *builder){
	"api": func(b *builder) {
		b.about("/api/", "getCoreAPIVersions", "get available API versions", "core", reflect.TypeFor[metav1.APIVersions]())
	},
	"apis": func(b *builder) {
		b.about("/apis/", "getAPIVersions", "get available API versions", "apis", reflect.TypeFor[metav1.APIGroupList]())
	},
	"version": func(b *builder) {
		b.paths = append(b.paths, path{path: "/version/", operations: []operation{{
			method: "get", id: "getCodeVersion", description: "get the version information for this server",
			tag: "version", answerTypes: answerTypes[:1], answer: b.defs.define(reflect.TypeFor[version.Info]()), codes: ok,
		}}})
	},
	".well-known/openid-configuration": func(b *builder) {
		b.paths = append(b.paths, path{path: "/.well-known/openid-configuration/", operations: []operation{{
			method: "get", id: "getServiceAccountIssuerOpenIDConfiguration", description: "get the OpenID configuration of the issuer of service accounts' tokens",
			tag: "WellKnown", answerTypes: answerTypes[:1], codes: ok,
		}}})
	},
	"openid/v1/jwks": func(b *builder) {
		b.paths = append(b.paths, path{path: "/openid/v1/jwks/", operations: []operation{{
			method: "get", id: "getServiceAccountIssuerOpenIDKeyset", description: "get the public keys that service accounts' tokens are verified with",
			tag: "openid", answerTypes: []string{"application/jwk-set+json"}, codes: ok,
		}}})
	},
}
