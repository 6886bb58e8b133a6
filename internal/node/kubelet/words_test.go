package kubelet

import "testing"

// FuzzParse: any text is read to its end, and what is read of it stays as long as it is.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a 'b", "a\"$b ${c} ${\"; d", "2>&1 a >/dev/null||&&#x\ny", "$ ${ }", "\xff'\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, c := range parse(text) {
			for _, w := range c.words {
				if len(w) == 0 {
					t.Errorf("an empty word of %q", text)
				}
				for _, p := range w {
					n += len(p.text) + len(p.name)
				}
			}
		}
		if n > len(text) {
			t.Errorf("%q became longer", text)
		}
	})
}
