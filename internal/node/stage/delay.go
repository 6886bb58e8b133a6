package stage

import (
	"math/rand/v2"
	"time"

	"github.com/itchyny/gojq"
)

// duration is the value of an expression, with a constant as the default.
type duration struct {
	constant *time.Duration
	from     *gojq.Code
}

func newDuration(milliseconds *int64, src *from) (*duration, error) {
	if milliseconds == nil && src == nil {
		return nil, nil
	}
	d := &duration{}
	if milliseconds != nil {
		constant := time.Duration(*milliseconds) * time.Millisecond
		d.constant = &constant
	}
	var err error
	d.from, err = src.compile()
	return d, err
}

func (d *duration) of(o *Object, now time.Time) (time.Duration, bool) {
	if d == nil {
		return 0, false
	}
	if d.from != nil {
		if found := query(d.from, o); len(found) > 0 {
			if text, ok := found[0].(string); ok {
				if text == "" {
					return 0, false
				}
				if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
					return at.Sub(now), true
				}
				if length, err := time.ParseDuration(text); err == nil {
					return length, true
				}
			}
		}
	}
	if d.constant == nil {
		return 0, false
	}
	return *d.constant, true
}

// Delay returns the time between choosing the stage and playing it. With jitter it is random between the duration
// and the jitter duration; the latter is the maximum even if it is shorter.
func (s *Stage) Delay(o *Object, now time.Time) time.Duration {
	least, ok := s.delay.of(o, now)
	if !ok {
		return 0
	}
	most, ok := s.jitter.of(o, now)
	switch {
	case !ok:
		return max(0, least)
	case most <= least:
		return max(0, most)
	}
	return max(0, least+rand.N(most-least))
}
