package fastjson

import (
	"reflect"
	"unsafe"
)

// Pair is a member of two objects of one Go type.
type Pair struct {
	f    *field
	a, b unsafe.Pointer
}

// Pairs calls visit for each member that is in the JSON of either of two structs, in the order of the type. old and
// new are pointers to structs of one type; otherwise ok is false and visit is not called.
func Pairs(old, new any, visit func(name string, p Pair)) (ok bool) {
	v, w := reflect.ValueOf(old), reflect.ValueOf(new)
	if v.Kind() != reflect.Pointer || v.Type() != w.Type() || v.IsNil() || w.IsNil() {
		return false
	}
	p := planOf(v.Type().Elem())
	if p.op != structure {
		return false
	}
	p.pairs(v.UnsafePointer(), w.UnsafePointer(), visit)
	return true
}

func (p *plan) pairs(a, b unsafe.Pointer, visit func(name string, p Pair)) {
	for i := range p.fields {
		f := &p.fields[i]
		q := Pair{f: f, a: unsafe.Add(a, f.offset), b: unsafe.Add(b, f.offset)}
		if f.empty != always {
			if f.isEmpty(q.a) {
				q.a = nil
			}
			if f.isEmpty(q.b) {
				q.b = nil
			}
		}
		if q.a != nil || q.b != nil {
			visit(f.name, q)
		}
	}
}

// Same reports whether the member is equal in both structs, or absent in both.
func (p Pair) Same() bool {
	return p.a == p.b || p.a != nil && p.b != nil && comparer{}.same(p.f.plan, p.a, p.b)
}

// Pairs is the function Pairs for the member's own members. It returns false unless the member is a struct in both.
func (p Pair) Pairs(visit func(name string, p Pair)) bool {
	a, b, plan := p.a, p.b, p.f.plan
	for plan.op == pointer && a != nil && b != nil {
		a, b, plan = *(*unsafe.Pointer)(a), *(*unsafe.Pointer)(b), plan.elem
	}
	if plan.op != structure || a == nil || b == nil {
		return false
	}
	plan.pairs(a, b, visit)
	return true
}

// Texts returns the member's JSON in both objects, nil if it is absent. The texts are appended to dst, which is
// returned as room. ok is false if a value cannot be encoded.
func (p Pair) Texts(dst []byte) (old, new, room []byte, ok bool) {
	if p.a != nil {
		if dst, ok = p.append(dst, p.a); !ok {
			return nil, nil, dst, false
		}
	}
	n := len(dst)
	if p.b != nil {
		if dst, ok = p.append(dst, p.b); !ok {
			return nil, nil, dst, false
		}
		new = dst[n:]
	}
	if p.a != nil {
		old = dst[:n]
	}
	return old, new, dst, true
}

// InOld reports whether the first object has the member.
func (p Pair) InOld() bool { return p.a != nil }

func (p Pair) append(dst []byte, v unsafe.Pointer) ([]byte, bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	s.depth = 0
	return s.value(dst, p.f.plan, v)
}
