package fairness

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDeal: a hand has different cards, and all cards are about as likely.
func TestDeal(t *testing.T) {
	const deck, hand, hands = 16, 4, 64_000
	random := rand.New(rand.NewPCG(1, 2))
	dealt := make([]int, deck)
	for range hands {
		cards := deal(random.Uint64(), deck, hand, nil)
		if len(cards) != hand || !slices.IsSorted(cards) || len(slices.Compact(slices.Clone(cards))) != hand || cards[0] < 0 || cards[hand-1] >= deck {
			t.Fatal(cards)
		}
		for _, c := range cards {
			dealt[c]++
		}
	}
	for card, n := range dealt {
		if want := hands * hand / deck; math.Abs(float64(n-want)) > 0.05*float64(want) {
			t.Errorf("card %d was dealt %d times, want about %d", card, n, want)
		}
	}
	// All hands of a small deck come up.
	seen := map[[2]int]int{}
	for hash := range uint64(12) {
		cards := deal(hash, 4, 2, nil)
		seen[[2]int{cards[0], cards[1]}]++
	}
	for cards, n := range seen {
		if n != 2 {
			t.Errorf("hand %v was dealt %d times of 12", cards, n)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d hands of 6", len(seen))
	}
}

// TestElephants: with upstream's 128 queues and hands of 6, even 16 flows that fill all their queues leave nearly every other
// flow a queue of its own.
func TestElephants(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const rounds = 2000
	lost := 0
	for range rounds {
		full := map[int]bool{}
		for range 16 {
			for _, c := range deal(random.Uint64(), 128, 6, nil) {
				full[c] = true
			}
		}
		if !slices.ContainsFunc(deal(random.Uint64(), 128, 6, nil), func(c int) bool { return !full[c] }) {
			lost++
		}
	}
	if part := float64(lost) / rounds; part > 0.04 { // about (1-(122/128)^16)^6
		t.Errorf("a mouse was squeezed out in %.3f of all cases", part)
	}
}

// TestAllocate: parts keep their bounds, are in proportion otherwise, and add up.
func TestAllocate(t *testing.T) {
	parts, fair, ok := allocate(9, []claim{{10, 4, 20}, {1, 2, 20}})
	if !ok || math.Abs(parts[0]-7) > 1e-9 || math.Abs(parts[1]-2) > 1e-9 || math.Abs(fair-0.7) > 1e-9 {
		t.Error(parts, fair, ok)
	}
	if _, _, ok := allocate(5, []claim{{4, 4, 20}, {2, 2, 20}}); ok {
		t.Error("less than the lower bounds was allocated")
	}
	if _, _, ok := allocate(50, []claim{{4, 4, 20}, {2, 2, 20}}); ok {
		t.Error("more than the upper bounds was allocated")
	}
	if parts, _, ok := allocate(6, []claim{{4, 4, 20}, {2, 2, 20}}); !ok || math.Abs(parts[0]-4) > 1e-6 || math.Abs(parts[1]-2) > 1e-6 {
		t.Error(parts, ok)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var claims []claim
		low, high := 0.0, 0.0
		for range 1 + random.IntN(9) {
			c := claim{low: float64(random.IntN(50))}
			c.high = c.low + float64(random.IntN(300))
			c.target = c.low + random.Float64()*100*float64(random.IntN(2))
			claims = append(claims, c)
			low, high = low+c.low, high+c.high
		}
		seats := math.Round(low + random.Float64()*(high-low))
		parts, fair, ok := allocate(seats, claims)
		if !ok {
			t.Fatalf("%v of %v: no solution", seats, claims)
		}
		sum := 0.0
		for i, c := range claims {
			sum += parts[i]
			switch want := fair * max(c.target, minTarget); {
			case parts[i] < c.low-1e-6 || parts[i] > c.high+1e-6:
				t.Fatalf("%v: part %v outside of %v", claims, parts[i], c)
			case math.Abs(parts[i]-want) < 1e-6, want < c.low && parts[i] == c.low, want > c.high && parts[i] == c.high:
			default:
				t.Fatalf("%v: part %v of %v with %v", claims, parts[i], c, fair)
			}
		}
		if math.Abs(sum-seats) > 1e-4 {
			t.Fatalf("%v of %v: the sum is %v", seats, claims, sum)
		}
	}
}
