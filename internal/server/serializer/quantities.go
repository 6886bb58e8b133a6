package serializer

import (
	"fmt"
	"reflect"
	"sync"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxNumberLength bounds the digits in a row in an object that has quantities. Parsing a
// quantity takes time quadratic in its digits, each time that it is parsed: a million digits
// take ten seconds.
const maxNumberLength = 20_000

// CheckNumbers refuses the text of an object of obj's type if the type has quantities and the
// text may hold one longer than maxNumberLength.
func CheckNumbers(text []byte, obj runtime.Object) error {
	if len(text) <= maxNumberLength || !hasLongNumber(text) || !hasQuantity(reflect.TypeOf(obj)) {
		return nil
	}
	return fmt.Errorf("a number in it has more than %d digits", maxNumberLength)
}

// hasLongNumber reports whether text has more than maxNumberLength bytes in a row that belong
// to a number, or to escapes that may spell a number.
func hasLongNumber(text []byte) bool {
	// A run of maxNumberLength bytes covers an index that is a multiple of maxNumberLength.
	for at := maxNumberLength; at < len(text); at += maxNumberLength {
		if !ofNumber(text[at]) {
			continue
		}
		begin, end := at, at+1
		for begin > 0 && ofNumber(text[begin-1]) {
			begin--
		}
		for end < len(text) && ofNumber(text[end]) {
			end++
		}
		if end-begin > maxNumberLength {
			return true
		}
	}
	return false
}

// ofNumber reports whether a number, or an escaped one, may have the byte c.
func ofNumber(c byte) bool { return '0' <= c && c <= '9' || c == '.' || c == '\\' || c == 'u' }

// quantityTypes caches hasQuantity.
var quantityTypes sync.Map // reflect.Type -> bool

// hasQuantity reports whether a type has resource.Quantity values in it.
func hasQuantity(t reflect.Type) bool {
	if known, ok := quantityTypes.Load(t); ok {
		return known.(bool)
	}
	has := findQuantity(t, map[reflect.Type]bool{})
	quantityTypes.Store(t, has)
	return has
}

func findQuantity(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == reflect.TypeFor[apiresource.Quantity]() {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return findQuantity(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if findQuantity(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
