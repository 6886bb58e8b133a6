package plain_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/plain"
)

var rules = map[string]struct {
	quick func(string) bool
	full  func(string) []string
}{
	"Label":            {plain.Label, validation.IsDNS1123Label},
	"Subdomain":        {plain.Subdomain, validation.IsDNS1123Subdomain},
	"LabelValue":       {plain.LabelValue, validation.IsValidLabelValue},
	"Qualified":        {plain.Qualified, validation.IsQualifiedName},
	"PortName":         {plain.PortName, validation.IsValidPortName},
	"QualifiedAnyCase": {plain.QualifiedAnyCase, func(s string) []string { return validation.IsQualifiedName(strings.ToLower(s)) }},
}

// TestNeverMoreThanTheRule checks names of critical letters: the quick check must not accept more than the rule.
func TestNeverMoreThanTheRule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	good := map[string]int{}
	try := func(s string) {
		for name, rule := range rules {
			want := len(rule.full(s)) == 0
			if got := rule.quick(s); got != want {
				t.Fatalf("%s(%q) = %v, want %v", name, s, got, want)
			}
			if want {
				good[name]++
			}
		}
	}
	for range 40000 {
		b := make([]byte, r.IntN(8))
		for i := range b {
			b[i] = "aaz09-._/AZ \n\x80"[r.IntN(14)]
		}
		try(string(b))
	}
	for _, n := range []int{15, 16, 62, 63, 64, 253, 254} {
		for _, s := range []string{strings.Repeat("a", n), strings.Repeat("a.", n/2) + "b", strings.Repeat("a", n) + "/x", "x/" + strings.Repeat("a", n)} {
			try(s)
		}
	}
	try("İ/x") // longer in lower case
	for name := range rules {
		if good[name] < 500 {
			t.Errorf("%s: only %d good names", name, good[name])
		}
	}
}
