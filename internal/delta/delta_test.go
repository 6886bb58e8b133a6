package delta_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fairlead.dev/internal/delta"
)

func object(seq, status string, lines int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"kind":"Pod","metadata":{"name":"a","annotations":{"seq":%q},"managedFields":[`, seq)
	for i := range lines {
		fmt.Fprintf(&b, `{"manager":"m%d","time":"2026-01-01T00:00:%s%d"},`, i, seq, i)
	}
	b.WriteString(`]},"spec":{`)
	for i := range lines {
		fmt.Fprintf(&b, `"member%d":"value of %d",`, i, i*i)
	}
	fmt.Fprintf(&b, `},"status":{"phase":%q}}`, status)
	return []byte(b.String())
}

// appended is Append without a limit.
func appended(dst, base, target []byte) []byte {
	d, ok := delta.Append(dst, base, target, 1<<40)
	if !ok {
		panic("a delta exceeds the limit")
	}
	return d
}

// TestApply makes each text from each other one, and checks the length of the delta.
func TestApply(t *testing.T) {
	small := object("1", "Pending", 40)
	for _, c := range []struct {
		name         string
		base, target []byte
		most         int
	}{
		{"equal", small, small, 8},
		{"one value", small, object("2", "Pending", 40), 500},
		{"two ends", small, object("1", "Running", 40), 24},
		{"longer", small, object("1", "Pending", 80), 3100},
		{"moved", small, append(bytes.Clone(small[1000:]), small[:1000]...), 64},
		{"from nothing", nil, small, len(small) + 8},
		{"to nothing", small, nil, 1},
		{"repeated", []byte(strings.Repeat("a", 100)), []byte(strings.Repeat("a", 250)), 160},
		{"large", object("1", "Pending", 20_000), object("1", "Running", 20_000), 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := appended([]byte("x"), c.base, c.target)[1:]
			got, err := delta.Apply(c.base, d)
			if err != nil || !bytes.Equal(got, c.target) {
				t.Fatalf("%v: got %d bytes, want %d", err, len(got), len(c.target))
			}
			if len(d) > c.most || delta.Size(d) != len(c.target) {
				t.Errorf("%d bytes for %d, want %d at most", len(d), delta.Size(d), c.most)
			}
			if _, ok := delta.Append(nil, c.base, c.target, len(d)-1); ok {
				t.Errorf("a limit of %d bytes is exceeded by a delta of %d", len(d)-1, len(d))
			}
			if _, ok := delta.Append([]byte("x"), c.base, c.target, len(d)+16); !ok {
				t.Errorf("a delta of %d bytes exceeds a limit of %d", len(d), len(d)+16)
			}
		})
	}
}

// TestMutations cuts, moves and overwrites parts of a text at random.
func TestMutations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	base := object("1", "Pending", 100)
	for range 2000 {
		target := bytes.Clone(base)
		for range rnd.IntN(5) {
			i, j := rnd.IntN(len(target)+1), rnd.IntN(len(target)+1)
			i, j = min(i, j), max(i, j)
			part := bytes.Clone(target[i:j])
			switch rnd.IntN(3) {
			case 0:
				target = append(target[:i], target[j:]...)
			case 1:
				target = append(target, part...)
			case 2:
				for k := range part[:min(len(part), 20)] {
					target[i+k] = byte(rnd.IntN(256))
				}
			}
			if len(target) == 0 {
				break
			}
		}
		got, err := delta.Apply(base, appended(nil, base, target))
		if err != nil || !bytes.Equal(got, target) {
			t.Fatalf("%v: got %q, want %q", err, got, target)
		}
	}
}

// FuzzApply checks that Apply stays within its bounds for any delta.
func FuzzApply(f *testing.F) {
	base := object("1", "Pending", 10)
	f.Add(base, appended(nil, base, object("2", "Running", 12)))
	f.Add([]byte("abc"), []byte{3, 7, 0})
	f.Fuzz(func(t *testing.T, base, d []byte) {
		if text, err := delta.Apply(base, d); err == nil && len(text) != delta.Size(d) {
			t.Fatalf("%d bytes, want %d", len(text), delta.Size(d))
		}
		made := appended(nil, base, d)
		if text, err := delta.Apply(base, made); err != nil || !bytes.Equal(text, d) {
			t.Fatalf("%v: %q of %q", err, text, d)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	base, target := object("1", "Pending", 60), object("2", "Running", 60)
	var d []byte
	for b.Loop() {
		d = appended(d[:0], base, target)
	}
	b.ReportMetric(float64(len(d))/float64(len(target)), "size/text")
	b.SetBytes(int64(len(target)))
}

func BenchmarkApply(b *testing.B) {
	base, target := object("1", "Pending", 60), object("2", "Running", 60)
	d := appended(nil, base, target)
	b.SetBytes(int64(len(target)))
	for b.Loop() {
		if _, err := delta.Apply(base, d); err != nil {
			b.Fatal(err)
		}
	}
}
