package top

import (
	"cmp"
	"slices"
	"time"
)

// rateSeconds is how long rates look back.
const rateSeconds = 60

// rates counts the writes of the last minute by the second.
type rates struct{ seconds [rateSeconds]second }

// second counts the events that began in one second.
type second struct {
	at                 int64 // Unix time
	writes, heartbeats int
	kinds              map[string]int // the writes, by resource
}

// add counts an event.
func (r *rates) add(e event) {
	at := e.began.Unix()
	s := &r.seconds[at%rateSeconds]
	if s.at > at {
		return
	}
	if s.at < at {
		*s = second{at: at, kinds: map[string]int{}}
	}
	if e.heartbeat() {
		s.heartbeats++
		return
	}
	s.writes++
	s.kinds[e.resource]++
}

// last returns the seconds before now, the oldest first. The current one is not over, so it does not count.
func (r *rates) last(now time.Time) []second {
	all := make([]second, 0, rateSeconds-1)
	for at := now.Unix() - rateSeconds + 1; at < now.Unix(); at++ {
		if s := r.seconds[at%rateSeconds]; s.at == at {
			all = append(all, s)
		} else {
			all = append(all, second{at: at})
		}
	}
	return all
}

// busy is a kind with its writes in the last minute.
type busy struct {
	resource string
	writes   int
}

// busiest returns the kinds with the most writes.
func (r *rates) busiest(now time.Time, n int) []busy {
	sum := map[string]int{}
	for _, s := range r.last(now) {
		for k, writes := range s.kinds {
			sum[k] += writes
		}
	}
	var all []busy
	for k, writes := range sum {
		all = append(all, busy{k, writes})
	}
	slices.SortFunc(all, func(a, b busy) int {
		return cmp.Or(cmp.Compare(b.writes, a.writes), cmp.Compare(a.resource, b.resource))
	})
	return all[:min(n, len(all))]
}

// spark draws values as a row of bars of w cells, the newest at the right.
func spark(values []int, w int) string {
	bars := []rune(" ▁▂▃▄▅▆▇█")
	values = values[max(0, len(values)-w):]
	most := 1
	for _, v := range values {
		most = max(most, v)
	}
	row := make([]rune, len(values))
	for i, v := range values {
		row[i] = bars[(v*(len(bars)-1)+most-1)/most]
	}
	return string(row)
}

// gauge draws a bar of w cells that is filled to a part.
func gauge(have, most int64, w int) string {
	if w == 0 {
		return ""
	}
	if most <= 0 {
		return dim.of(fit("-", w))
	}
	n := int(min(have, most) * int64(w) / most)
	if have > 0 && n == 0 {
		n = 1
	}
	s := green
	if have*10 >= most*9 {
		s = yellow
	}
	return s.of(repeat("■", n)) + dim.of(repeat("·", w-n))
}
