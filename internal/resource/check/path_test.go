package check_test

import (
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// TestPathReadsAsUpstreams compares random paths with apimachinery's.
func TestPathReadsAsUpstreams(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"spec", "containers", "a.b/c", ""}
	name := func() string { return names[r.IntN(len(names))] }
	for range 5000 {
		p, want := check.At("spec"), field.NewPath("spec")
		switch r.IntN(3) {
		case 0:
			p, want = nil, nil
		case 1:
			p, want = check.At("metadata", "annotations"), field.NewPath("metadata", "annotations")
		}
		for range r.IntN(6) {
			switch i := r.IntN(12); r.IntN(4) {
			case 0:
				n := name()
				p, want = p.Child(n), want.Child(n)
			case 1:
				n := name()
				p, want = p.Child(n, "x", "y"), want.Child(n, "x", "y")
			case 2:
				p, want = p.Index(i), want.Index(i)
			default:
				n := name()
				p, want = p.Key(n), want.Key(n)
			}
		}
		if p.String() != want.String() || p.Field().String() != want.String() {
			t.Fatalf("%s and %s, want %s", p, p.Field(), want)
		}
	}
}

// TestPathsOfWhatIsRightCostNothing checks that a path of a valid value is not allocated.
func TestPathsOfWhatIsRightCostNothing(t *testing.T) {
	names := []string{"a", "b"}
	rule := func() int {
		var f check.Errors
		p := check.At("spec", "names")
		for i, n := range names {
			at := p.Index(i)
			f.Label(at.Child("name"), n)
			f.NotNegative(at.Key(n).Child("amount", "value"), int64(i))
		}
		return f.Len()
	}
	if n := testing.AllocsPerRun(100, func() { rule() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	names[1] = "B"
	if rule() != 1 {
		t.Error("the fault is not found")
	}
}
