package dynamicresources

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// maxName bounds a domain, a slash and an identifier.
const maxName = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength

// shorten removes the middle of a long text.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	rest := limit - len("...")
	return s[:(rest+1)/2] + "..." + s[len(s)-rest/2:]
}

func attributes(f *check.Errors, p *check.Path, d *resourcev1.Device) {
	if n, limit := len(d.Attributes)+len(d.Capacity), resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice; n > limit {
		f.Invalid(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", limit))
	}
	values := 0
	for _, a := range d.Attributes {
		values += max(1, len(a.BoolValues)+len(a.IntValues)+len(a.StringValues)+len(a.VersionValues))
	}
	if limit := resourcev1.ResourceSliceMaxAttributeValuesPerDevice; values > limit {
		f.Invalid(p, values, fmt.Sprintf("the total number of attribute values must not exceed %d", limit))
	}
	at := p.Child("attributes")
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		a := d.Attributes[name]
		attributeName(f, at, string(name))
		attribute(f, at.Key(shorten(string(name), maxName)), &a)
	}
}

var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// attribute requires one value, or one list of values.
func attribute(f *check.Errors, p *check.Path, a *resourcev1.DeviceAttribute) {
	length := func(p *check.Path, s string) {
		if limit := resourcev1.DeviceAttributeMaxValueLength; len(s) > limit {
			f.Add(field.TooLong(p.Field(), "", limit))
		}
	}
	number := func(p *check.Path, s string) {
		if !semver.MatchString(s) {
			f.Invalid(p, s, "must be a string compatible with semver.org spec 2.0.0")
		}
		length(p, s)
	}
	if a.StringValue != nil {
		length(p.Child("string"), *a.StringValue)
	}
	if a.VersionValue != nil {
		number(p.Child("version"), *a.VersionValue)
	}
	const empty = "must not be empty if specified"
	if a.BoolValues != nil && len(a.BoolValues) == 0 {
		f.Invalid(p.Child("bools"), a.BoolValues, empty)
	}
	if a.IntValues != nil && len(a.IntValues) == 0 {
		f.Invalid(p.Child("ints"), a.IntValues, empty)
	}
	if a.StringValues != nil && len(a.StringValues) == 0 {
		f.Invalid(p.Child("strings"), a.StringValues, empty)
	}
	if a.VersionValues != nil && len(a.VersionValues) == 0 {
		f.Invalid(p.Child("versions"), a.VersionValues, empty)
	}
	for i, s := range a.StringValues {
		length(p.Child("strings").Index(i), s)
	}
	for i, s := range a.VersionValues {
		number(p.Child("versions").Index(i), s)
	}
	f.Add(validate.Union(context.Background(), operation.Operation{}, p.Field(), a, nil, attributeValues,
		func(a *resourcev1.DeviceAttribute) bool { return a.IntValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.BoolValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.StringValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.VersionValue != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.IntValues != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.BoolValues != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.StringValues != nil },
		func(a *resourcev1.DeviceAttribute) bool { return a.VersionValues != nil },
	)...)
}

// attributeValues are the values of an attribute, of which it has one.
var attributeValues = validate.NewUnionMembership(
	validate.NewUnionMember("int"), validate.NewUnionMember("bool"), validate.NewUnionMember("string"), validate.NewUnionMember("version"),
	validate.NewUnionMember("ints"), validate.NewUnionMember("bools"), validate.NewUnionMember("strings"), validate.NewUnionMember("versions"),
)
