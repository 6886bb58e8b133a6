package server

import (
	"fmt"
	"reflect"
	"sync"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// longestNumber is how many digits in a row an object with quantities may have. A quantity
// takes time by the square of its digits to be read, each time that it is: a million of them
// take ten seconds.
const longestNumber = 20_000

// checkNumbers refuses the text of an object of obj's type if a quantity in it may be longer
// than any that makes sense.
func checkNumbers(text []byte, obj runtime.Object) error {
	if len(text) <= longestNumber || !hasLongNumber(text) || !hasQuantity(reflect.TypeOf(obj)) {
		return nil
	}
	return fmt.Errorf("a number in it has more than %d digits", longestNumber)
}

// hasLongNumber reports whether more than longestNumber bytes in a row are of a number, or
// of escapes in which a number may be written.
func hasLongNumber(text []byte) bool {
	// Of any so many bytes in a row one is at a multiple of that number.
	for at := longestNumber; at < len(text); at += longestNumber {
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
		if end-begin > longestNumber {
			return true
		}
	}
	return false
}

func ofNumber(c byte) bool { return '0' <= c && c <= '9' || c == '.' || c == '\\' || c == 'u' }

// quantityTypes remembers which types have quantities in them.
var quantityTypes sync.Map // reflect.Type -> bool

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
