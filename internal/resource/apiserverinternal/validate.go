package apiserverinternal

import (
	"fmt"
	"slices"
	"strings"

	internalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/storageversion"
)

func validate(s *internalv1alpha1.StorageVersionStatus) field.ErrorList {
	var f check.Errors
	p := check.At("status")
	servers := map[string]bool{}
	for i := range s.StorageVersions {
		v, at := &s.StorageVersions[i], p.Child("storageVersions").Index(i)
		if servers[v.APIServerID] {
			f.Duplicate(at.Child("apiServerID"), v.APIServerID)
		}
		servers[v.APIServerID] = true
		validateServer(&f, at, v)
	}
	common, at := storageversion.Common(s.StorageVersions), p.Child("commonEncodingVersion")
	switch was := s.CommonEncodingVersion; {
	case common == nil && was != nil:
		f.Invalid(at, *was, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")
	case common != nil && was == nil:
		f.Invalid(at, was, "the common encoding version is "+*common)
	case common != nil && *common != *was:
		f.Invalid(at, *was, "the actual common encoding version is "+*common)
	}
	types := map[internalv1alpha1.StorageVersionConditionType]int{}
	for i, c := range s.Conditions {
		at := p.Index(i)
		if first, ok := types[c.Type]; ok {
			f.Invalid(at.Child("type"), string(c.Type), fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", first))
		}
		types[c.Type] = i
		f.Qualified(at.Child("type"), string(c.Type))
		f.Qualified(at.Child("status"), string(c.Status))
		if c.Reason == "" {
			f.Required(at.Child("reason"), "")
		}
		if c.Message == "" {
			f.Required(at.Child("message"), "")
		}
	}
	return f.List()
}

// validateServer checks the report of a server.
func validateServer(f *check.Errors, p *check.Path, v *internalv1alpha1.ServerStorageVersion) {
	f.Subdomain(p.Child("apiServerID"), v.APIServerID)
	version := func(p *check.Path, version string) {
		if errs := apiVersion(version); len(errs) > 0 {
			f.Invalid(p, version, strings.Join(errs, ","))
		}
	}
	version(p.Child("encodingVersion"), v.EncodingVersion)
	for i, d := range v.DecodableVersions {
		version(p.Child("decodableVersions").Index(i), d)
	}
	if !slices.Contains(v.DecodableVersions, v.EncodingVersion) {
		f.Invalid(p.Child("decodableVersions"), v.DecodableVersions, "decodableVersions must include encodingVersion "+v.EncodingVersion)
	}
	for i, s := range v.ServedVersions {
		at := p.Child("servedVersions").Index(i)
		version(at, s)
		if !slices.Contains(v.DecodableVersions, s) {
			f.Invalid(at, s, fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", s, v.DecodableVersions))
		}
	}
}

// apiVersion checks a version with an optional group before it.
func apiVersion(text string) (errs []string) {
	group, version, ok := strings.Cut(text, "/")
	if !ok {
		group, version = "", text
	}
	if strings.Contains(version, "/") {
		const label = "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
		return []string{"an apiVersion is " + validation.RegexError(label, "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123") +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"}
	}
	add := func(part string, messages ...string) {
		for _, m := range messages {
			errs = append(errs, part+" part: "+m)
		}
	}
	switch {
	case ok && group == "":
		add("group", validation.EmptyError())
	case ok:
		add("group", validation.IsDNS1123Subdomain(group)...)
	}
	if version == "" {
		add("version", validation.EmptyError())
	} else {
		add("version", validation.IsDNS1035Label(version)...)
	}
	return errs
}
