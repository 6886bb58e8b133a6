package fairness

import "time"

// maxRetryAfter bounds the answer's Retry-After, in seconds.
const maxRetryAfter = 32

// refusals computes the Retry-After of a level's refusals from their number, as TCP computes a window: it doubles when there
// have been three a second for its length, and shrinks by one when there have been fewer than one.
type refusals struct {
	after  int64 // seconds; 0 is 1
	raised int64 // the second when it was raised last
	second int64 // the present one, with count refusals
	count  int64
	past   []refused
}

type refused struct{ second, count int64 }

// note counts a refusal and returns its Retry-After.
func (r *refusals) note(t time.Time) int64 {
	if r.after == 0 {
		r.after = 1
	}
	now := t.Unix()
	if now == r.second {
		r.count++
		return r.after
	}
	if r.count > 0 {
		r.past = append(r.past, refused{r.second, r.count})
	}
	r.second, r.count = now, 1
	recent := int64(0)
	kept := r.past[:0]
	for _, p := range r.past {
		if age := now - p.second; age <= maxRetryAfter {
			kept = append(kept, p)
			if age <= r.after {
				recent += p.count
			}
		}
	}
	r.past = kept
	switch {
	case now-r.raised >= r.after && recent >= 3*r.after:
		r.after, r.raised = min(2*r.after, maxRetryAfter), now
	case recent < r.after && r.after > 1:
		r.after--
	}
	return r.after
}
