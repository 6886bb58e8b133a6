package history

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/internal/history"
)

// At reads the state of the object at a revision, that of its last write up to there. It fails for
// a revision at which the object did not exist yet, or before the kept history.
func (r Reader) At(ctx context.Context, revision int64) (*history.State, error) {
	p, err := r.Page(ctx, revision+1, 1)
	switch {
	case err != nil:
		return nil, err
	case revision > p.Revision:
		return nil, fmt.Errorf("revision %d does not exist yet: the last one is %d", revision, p.Revision)
	case len(p.States) > 0:
		return &p.States[0], nil
	}
	return nil, r.gone(p, fmt.Sprintf("at revision %d", revision))
}

// A Moment is a time, or a time before the server's present one.
type Moment struct {
	Time time.Time
	// Ago counts if Time is zero.
	Ago time.Duration
}

// on returns the time when the server's clock is at now.
func (m Moment) on(now time.Time) time.Time {
	if m.Time.IsZero() {
		return now.Add(-m.Ago)
	}
	return m.Time
}

// AtTime reads the state of the object at a time. A write whose time is known to some seconds only
// counts from the end of these.
func (r Reader) AtTime(ctx context.Context, m Moment) (*history.State, error) {
	present, err := r.Page(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	return r.atTime(ctx, m.on(present.Now))
}

func (r Reader) atTime(ctx context.Context, at time.Time) (found *history.State, err error) {
	unknown := false
	p, err := r.Each(ctx, 0, func(s *history.State) (bool, error) {
		if s.Time.IsZero() {
			unknown = true
			return true, nil
		}
		if !s.Time.After(at) {
			found = s
		}
		return found == nil, nil
	})
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case unknown:
		return nil, fmt.Errorf("the times of its writes are not known back to %s: name a revision", at.Format(time.DateTime))
	}
	return nil, r.gone(p, "at "+at.Format(time.DateTime))
}

// Last reads the newest states, the newest first.
func (r Reader) Last(ctx context.Context, n int) ([]history.State, history.Page, error) {
	p, err := r.Page(ctx, 0, n)
	return p.States, p, err
}

// gone is the error for a state that no kept revision has.
func (r Reader) gone(p history.Page, when string) error {
	what := fmt.Sprintf("%s %q", r.Resource.GVR.GroupResource(), r.Name)
	switch {
	case p.Withheld != "":
		return fmt.Errorf("the state of %s %s is not shown: %s", what, when, p.Withheld)
	case p.Compacted > 0:
		return fmt.Errorf("the state of %s %s is not kept: states before revision %d were compacted", what, when, p.Compacted)
	}
	return fmt.Errorf("%s did not exist %s", what, when)
}
