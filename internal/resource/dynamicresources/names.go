package dynamicresources

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// validateList calls look for the elements of a list, which may have at most limit elements; a longer list is reported
// without looking at its elements. A negative limit means unbounded.
func validateList[T any](f *check.Errors, p *check.Path, list []T, limit int, look func(p *check.Path, v *T)) bool {
	if limit >= 0 && len(list) > limit {
		f.Add(field.TooMany(p.Field(), len(list), limit))
		return false
	}
	for i := range list {
		look(p.Index(i), &list[i])
	}
	return true
}

// validateSet is validateList for elements with distinct keys, by a declarative rule of Kubernetes, whose error has the element.
func validateSet[T any, K comparable](f *check.Errors, p *check.Path, list []T, limit int, key func(*T) K, look func(p *check.Path, v *T)) {
	if validateList(f, p, list, limit, look) {
		distinct(f, p, list, key, func(v *T) any { return versioned{v} })
	}
}

// versioned is a value that an error quotes with its JSON names.
type versioned struct{ value any }

func (v versioned) MarshalJSON() ([]byte, error) { return json.Marshal(v.value) }

// validateKeyed is validateSet by a rule whose error has the key.
func validateKeyed[T any, K comparable](f *check.Errors, p *check.Path, list []T, limit int, key func(*T) K, look func(p *check.Path, v *T)) {
	if validateList(f, p, list, limit, look) {
		distinct(f, p, list, key, func(v *T) any { return key(v) })
	}
}

func distinct[T any, K comparable](f *check.Errors, p *check.Path, list []T, key func(*T) K, shown func(*T) any) {
	seen := map[K]bool{}
	for i := range list {
		k := key(&list[i])
		if seen[k] {
			f.Duplicate(p.Index(i), shown(&list[i]))
		}
		seen[k] = true
	}
}

func identity(s *string) string { return *s }

// poolName requires subdomains between slashes.
func poolName(f *check.Errors, p *check.Path, name string) {
	if name == "" {
		f.Required(p, "")
		return
	}
	if len(name) > resourcev1.PoolNameMaxLength {
		f.Add(field.TooLong(p.Field(), "", resourcev1.PoolNameMaxLength))
	}
	for part := range strings.SplitSeq(name, "/") {
		f.Subdomain(p, part)
	}
}

// attributeName requires an identifier, with the domain of a driver in front or not.
func attributeName(f *check.Errors, p *check.Path, name string) {
	domain, id, two := strings.Cut(name, "/")
	switch {
	case strings.Count(name, "/") > 1:
		return // kube-apiserver lets it in
	case !two:
		identifier(f, p, domain)
		return
	case domain == "":
		f.Invalid(p, "", "the domain must not be empty")
	default:
		podspec.CSIDriverName(f, p, domain)
	}
	if id == "" {
		f.Invalid(p, "", "the name must not be empty")
	} else {
		identifier(f, p, id)
	}
}

func wholeAttributeName(f *check.Errors, p *check.Path, name string) {
	f.Add(validate.ResourceFullyQualifiedName(context.Background(), operation.Operation{}, p.Field(), &name, nil)...)
}

// driver requires the name of a driver, in letters of any case.
func driver(f *check.Errors, p *check.Path, name string) {
	switch {
	case name == "":
		f.Required(p, "")
	case len(name) > 63:
		f.Add(field.TooLongCharacters(p.Field(), "", 63))
	}
	if name != "" {
		//lint:ignore SA1019 kube-apiserver 1.37 lets these names be of any case
		f.Each(p, name, content.IsDNS1123SubdomainCaseless(name))
	}
}

func identifier(f *check.Errors, p *check.Path, id string) {
	if len(id) > resourcev1.DeviceMaxIDLength {
		f.Add(field.TooLong(p.Field(), "", resourcev1.DeviceMaxIDLength))
	}
	f.Each(p, id, content.IsCIdentifier(id))
}

func shareID(f *check.Errors, p *check.Path, id string) {
	if err := uuid.Validate(id); err != nil {
		f.Invalid(p, id, fmt.Sprintf("error validating uid: %v", err))
	} else if len(id) != 36 || id != strings.ToLower(id) {
		f.Invalid(p, id, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
	}
}

// jsonObject requires a JSON object of at most limit bytes.
func jsonObject(f *check.Errors, p *check.Path, raw runtime.RawExtension, limit int) {
	var v any
	switch err := json.Unmarshal(raw.Raw, &v); {
	case len(raw.Raw) == 0:
		f.Required(p, "")
	case len(raw.Raw) > limit:
		f.Add(field.TooLong(p.Field(), "", limit))
	case err != nil:
		f.Invalid(p, "<value omitted>", fmt.Sprintf("error parsing data as JSON: %v", err))
	case v == nil:
		f.Required(p, "")
	default:
		if _, ok := v.(map[string]any); !ok {
			f.Invalid(p, "<value omitted>", "must be a valid JSON object")
		}
	}
}
