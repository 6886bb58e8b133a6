package custom

import (
	"math"
	"regexp"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// verdict is the result of a check.
type verdict int8

const (
	unsure verdict = iota // upstream's validator must decide
	good                  // the validator would find no error
	bad                   // the validator would find an error
)

// compiledSchema is a schema compiled to accept most valid values quickly. kube-openapi's validator, which is rebuilt for
// each value, decides on the others: it words the errors, and covers the cases that a check leaves out.
type compiledSchema struct {
	odd                          bool // uses keywords that a check does not support
	types                        typeSet
	nullable                     bool
	format                       string // of strings
	small                        bool   // integers are of 32 bits
	minValue, maxValue           *int64 // of numbers
	aboveLeast, belowMost        bool
	minLength, maxLength         *int64
	pattern                      *regexp.Regexp
	enum                         []any
	minItems, maxItems           *int64
	items                        *compiledSchema
	minProperties, maxProperties *int64
	required                     []string
	properties                   map[string]*compiledSchema
	rest                         *compiledSchema
	all, any, one                []*compiledSchema
	not                          *compiledSchema
}

// typeSet is a bit set of JSON types; an empty one allows all.
type typeSet uint8

const (
	object typeSet = 1 << iota
	array
	text
	integer
	number
	boolean
)

var kindOf = map[string]typeSet{"object": object, "array": array, "string": text, "integer": integer, "number": number, "boolean": boolean}

// compileSchema compiles a schema.
func compileSchema(s *spec.Schema) *compiledSchema {
	c := &compiledSchema{
		nullable: s.Nullable, enum: s.Enum, minLength: s.MinLength, maxLength: s.MaxLength, minItems: s.MinItems, maxItems: s.MaxItems,
		minProperties: s.MinProperties, maxProperties: s.MaxProperties, required: s.Required,
		aboveLeast: s.ExclusiveMinimum, belowMost: s.ExclusiveMaximum,
		odd: s.UniqueItems || s.MultipleOf != nil || s.AdditionalItems != nil || len(s.PatternProperties)+len(s.Dependencies)+len(s.Definitions) > 0 || s.Ref.String() != "",
	}
	for _, t := range s.Type {
		c.types |= kindOf[t]
		c.odd = c.odd || kindOf[t] == 0
	}
	switch {
	case s.Format == "":
	case c.types == text:
		c.format = s.Format
		c.odd = c.odd || !strfmt.Default.ContainsName(s.Format)
	case c.types == integer:
		c.small = s.Format == "int32"
	default:
		c.odd = true
	}
	c.minValue, c.maxValue = c.bound(s.Minimum), c.bound(s.Maximum)
	if s.Pattern != "" {
		var err error
		c.pattern, err = regexp.Compile(s.Pattern)
		c.odd = c.odd || err != nil
	}
	if s.Items != nil {
		c.odd = c.odd || s.Items.Schema == nil
		if s.Items.Schema != nil {
			c.items = compileSchema(s.Items.Schema)
		}
	}
	if more := s.AdditionalProperties; more != nil {
		c.odd = c.odd || !more.Allows && more.Schema == nil
		if more.Schema != nil {
			c.rest = compileSchema(more.Schema)
		}
	}
	if len(s.Properties) > 0 {
		c.properties = make(map[string]*compiledSchema, len(s.Properties))
		for name := range s.Properties {
			p := s.Properties[name]
			c.properties[name] = compileSchema(&p)
		}
	}
	c.all, c.any, c.one = compileSchemas(s.AllOf), compileSchemas(s.AnyOf), compileSchemas(s.OneOf)
	if s.Not != nil {
		c.not = compileSchema(s.Not)
	}
	return c
}

func compileSchemas(list []spec.Schema) (checks []*compiledSchema) {
	for i := range list {
		checks = append(checks, compileSchema(&list[i]))
	}
	return checks
}

// bound returns a limit of numbers, or nil. Only small integers mean the same for integers and
// floats.
func (c *compiledSchema) bound(limit *float64) *int64 {
	if limit == nil {
		return nil
	}
	n := int64(*limit)
	c.odd = c.odd || float64(n) != *limit || n > math.MaxInt32 || n < math.MinInt32
	return &n
}

// check returns the verdict on a value. With old, an error in members or items is unsure, because it may be tolerated if the old
// object had it.
func (c *compiledSchema) check(v any, old bool) verdict {
	if c.odd {
		return unsure
	}
	if v == nil {
		switch {
		case len(c.enum) > 0:
			return unsure
		case c.types == 0 || c.nullable:
			return good
		}
		return bad
	}
	result := c.value(v, old)
	if result == bad {
		return bad
	}
	result = worse(result, c.listed(v))
	for _, sub := range c.all {
		result = worse(result, sub.check(v, old))
	}
	result = worse(result, c.anyOf(v, old))
	result = worse(result, c.oneOf(v, old))
	if c.not != nil {
		result = worse(result, negate(c.not.check(v, old)))
	}
	return result
}

func worse(a, b verdict) verdict {
	switch {
	case a == bad || b == bad:
		return bad
	case a == unsure || b == unsure:
		return unsure
	}
	return good
}

func negate(v verdict) verdict {
	switch v {
	case good:
		return bad
	case bad:
		return good
	}
	return unsure
}

func (c *compiledSchema) anyOf(v any, old bool) verdict {
	if len(c.any) == 0 {
		return good
	}
	result := bad
	for _, sub := range c.any {
		switch sub.check(v, old) {
		case good:
			return good
		case unsure:
			result = unsure
		}
	}
	return result
}

func (c *compiledSchema) oneOf(v any, old bool) verdict {
	if len(c.one) == 0 {
		return good
	}
	passed := 0
	for _, sub := range c.one {
		switch sub.check(v, old) {
		case good:
			passed++
		case unsure:
			return unsure
		}
	}
	if passed == 1 {
		return good
	}
	return bad
}

// listed reports whether the value is in the enum.
func (c *compiledSchema) listed(v any) verdict {
	if len(c.enum) == 0 {
		return good
	}
	s, isText := v.(string)
	for _, e := range c.enum {
		if t, ok := e.(string); isText && ok && s == t {
			return good
		}
	}
	return unsure
}

func (c *compiledSchema) value(v any, old bool) verdict {
	switch v := v.(type) {
	case map[string]any:
		return c.members(v, old)
	case []any:
		return c.elements(v, old)
	case string:
		return c.string(v)
	case int64:
		return c.integer(v)
	case float64:
		if c.types != 0 && c.types&number == 0 || c.minValue != nil || c.maxValue != nil {
			return unsure
		}
		return good
	case bool:
		return c.kind(boolean)
	}
	return unsure
}

func (c *compiledSchema) kind(k typeSet) verdict {
	if c.types == 0 || c.types&k != 0 {
		return good
	}
	return bad
}

func (c *compiledSchema) string(s string) verdict {
	if c.types != 0 && c.types&text == 0 {
		return bad
	}
	if n := len(s); c.minLength != nil || c.maxLength != nil && int64(n) > *c.maxLength {
		n = utf8.RuneCountInString(s)
		if !within(n, c.minLength, c.maxLength) {
			return bad
		}
	}
	if c.pattern != nil && !c.pattern.MatchString(s) || c.format != "" && !strfmt.Default.Validates(c.format, s) {
		return bad
	}
	return good
}

func within(n int, minValue, maxValue *int64) bool {
	return (minValue == nil || int64(n) >= *minValue) && (maxValue == nil || int64(n) <= *maxValue)
}

func (c *compiledSchema) integer(n int64) verdict {
	switch {
	case c.types != 0 && c.types&(integer|number) == 0:
		return bad
	case c.small && n != int64(int32(n)):
		return unsure
	case c.minValue != nil && (n < *c.minValue || c.aboveLeast && n == *c.minValue):
		return bad
	case c.maxValue != nil && (n > *c.maxValue || c.belowMost && n == *c.maxValue):
		return bad
	}
	return good
}

func (c *compiledSchema) elements(list []any, old bool) verdict {
	if c.types != 0 && c.types&array == 0 || !within(len(list), c.minItems, c.maxItems) {
		return bad
	}
	if c.items == nil {
		return good
	}
	for _, v := range list {
		if found := c.items.check(v, old); found != good {
			return wholeVerdict(found, old)
		}
	}
	return good
}

func (c *compiledSchema) members(m map[string]any, old bool) verdict {
	if c.types != 0 && c.types&object == 0 || !within(len(m), c.minProperties, c.maxProperties) {
		return bad
	}
	for _, name := range c.required {
		if _, ok := m[name]; !ok {
			return bad
		}
	}
	if c.properties == nil && c.rest == nil {
		return good
	}
	for name, v := range m {
		sub := c.properties[name]
		if sub == nil {
			sub = c.rest
		}
		if sub != nil {
			if found := sub.check(v, old); found != good {
				return wholeVerdict(found, old)
			}
		}
	}
	return good
}

// wholeVerdict turns the verdict on a part into that on the whole.
func wholeVerdict(part verdict, old bool) verdict {
	if old {
		return unsure
	}
	return part
}
