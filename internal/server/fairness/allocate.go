package fairness

import "slices"

// claim is what a level may get of the seats: at least low, at most high, and in proportion to target within these.
type claim struct{ target, low, high float64 }

// minTarget stands for a target of 0, so that levels without demand can share what is left.
const minTarget = 0.001

func (c claim) weight() float64 { return max(c.target, minTarget) }

// at returns the seats of the claim if each level gets fair times its target.
func (c claim) at(fair float64) float64 { return min(c.high, max(c.low, fair*c.weight())) }

// allocate divides seats among the claims: each gets fair times its target, as far as its bounds allow, and together they get
// all. ok is false if the bounds do not allow that. The sum of the parts grows with fair and is linear between the values at
// which a claim meets a bound, so the solution lies between two neighbors of these:
//
//	claims (target, low, high)   (10, 4, 20)   (1, 2, 20)
//	bounds met at fair =         0.4, 2        2, 20
//	sum at these                 6, 22, 22, 40         (fair 0.4: 4+2, fair 2: 20+2)
//	9 seats: between 0.4 and 2   fair = 0.4 + (9-6)/(22-6) * 1.6 = 0.7, so 7 and 2
func allocate(seats float64, claims []claim) (parts []float64, fair float64, ok bool) {
	sum := func(fair float64) (s float64) {
		for _, c := range claims {
			s += c.at(fair)
		}
		return s
	}
	var bounds []float64
	for _, c := range claims {
		if c.low > c.high {
			return nil, 0, false
		}
		bounds = append(bounds, c.low/c.weight(), c.high/c.weight())
	}
	slices.Sort(bounds)
	const epsilon = 1e-7
	if len(bounds) == 0 || sum(bounds[0]) > seats+epsilon || sum(bounds[len(bounds)-1]) < seats-epsilon {
		return nil, 0, false
	}
	fair = bounds[0]
	for _, next := range bounds[1:] {
		if below, above := sum(fair), sum(next); above < seats {
			fair = next
		} else {
			if above > below {
				fair += (next - fair) * max(0, seats-below) / (above - below)
			}
			break
		}
	}
	for _, c := range claims {
		parts = append(parts, c.at(fair))
	}
	return parts, fair, true
}
