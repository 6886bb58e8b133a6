package fastjson

import (
	"reflect"

	"fairlead.dev/internal/rawmem"
)

// Pair is a member of two objects of one Go type.
type Pair struct {
	f    *field
	a, b rawmem.Pointer
}

// Pairs calls visit for each member that is in the JSON of either of two structs, in the order of the type. old and
// new are pointers to structs of one type; otherwise ok is false and visit is not called.
func Pairs(old, new any, visit func(name string, p Pair)) (ok bool) {
	v, w := reflect.ValueOf(old), reflect.ValueOf(new)
	if v.Kind() != reflect.Pointer || v.Type() != w.Type() || v.IsNil() || w.IsNil() {
		return false
	}
	p := typeCodecOf(v.Type().Elem())
	if p.op != structure {
		return false
	}
	p.pairs(rawmem.Of(v), rawmem.Of(w), visit)
	return true
}

func (p *typeCodec) pairs(a, b rawmem.Pointer, visit func(name string, p Pair)) {
	for i := range p.fields {
		f := &p.fields[i]
		q := Pair{f: f, a: a.Field(f.offset), b: b.Field(f.offset)}
		if f.empty != always {
			if f.isEmpty(q.a) {
				q.a = rawmem.Pointer{}
			}
			if f.isEmpty(q.b) {
				q.b = rawmem.Pointer{}
			}
		}
		if !q.a.IsNil() || !q.b.IsNil() {
			visit(f.name, q)
		}
	}
}

// Equal reports whether the member is equal in both structs, or absent in both.
func (p Pair) Equal() bool {
	return p.a == p.b || !p.a.IsNil() && !p.b.IsNil() && comparer{}.equal(p.f.plan, p.a, p.b)
}

// Pairs is the function Pairs for the member's own members. It returns false unless the member is a struct in both.
func (p Pair) Pairs(visit func(name string, p Pair)) bool {
	a, b, plan := p.a, p.b, p.f.plan
	for plan.op == pointer && !a.IsNil() && !b.IsNil() {
		a, b, plan = a.Load(), b.Load(), plan.elem
	}
	if plan.op != structure || a.IsNil() || b.IsNil() {
		return false
	}
	plan.pairs(a, b, visit)
	return true
}

// Texts returns the member's JSON in both objects, nil if it is absent. The texts are appended to dst, which is
// returned as room. ok is false if a value cannot be encoded.
func (p Pair) Texts(dst []byte) (old, new, room []byte, ok bool) {
	if !p.a.IsNil() {
		if dst, ok = p.append(dst, p.a); !ok {
			return nil, nil, dst, false
		}
	}
	n := len(dst)
	if !p.b.IsNil() {
		if dst, ok = p.append(dst, p.b); !ok {
			return nil, nil, dst, false
		}
		new = dst[n:]
	}
	if !p.a.IsNil() {
		old = dst[:n]
	}
	return old, new, dst, true
}

// InOld reports whether the first object has the member.
func (p Pair) InOld() bool { return !p.a.IsNil() }

func (p Pair) append(dst []byte, v rawmem.Pointer) ([]byte, bool) {
	s := encoders.Get().(*encoder)
	defer encoders.Put(s)
	s.depth = 0
	return s.value(dst, p.f.plan, v)
}
