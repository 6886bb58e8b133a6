package chance_test

import (
	"fmt"
	"testing"

	"fairlead.dev/internal/chance"
)

// TestOf checks that numbers stay the same, and that those of similar texts are spread evenly.
func TestOf(t *testing.T) {
	var tenths [10]int
	for i := range 10000 {
		text := fmt.Sprintf("pool-%d", i)
		x := chance.Of(text)
		if x < 0 || x >= 1 || x != chance.Of(text) {
			t.Fatalf("the number of %s is %v, then %v", text, x, chance.Of(text))
		}
		tenths[int(x*10)]++
	}
	for i, n := range tenths {
		if n < 800 || n > 1200 {
			t.Errorf("%d of 10000 numbers begin with 0.%d", n, i)
		}
	}
}
