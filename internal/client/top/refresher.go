package top

import "time"

const (
	// refreshDelay is how long a change waits for further ones before the question is asked again.
	refreshDelay = 500 * time.Millisecond
	// refreshPeriod is how often it is asked without a change: some answers depend on the time.
	refreshPeriod = 10 * time.Second
	// refreshShare bounds the cost of answers: the pause between two is as many times as long as the answer took.
	refreshShare = 20
	// maxPause is the longest pause that an expensive answer asks for.
	maxPause = 30 * time.Second
)

// refresher decides when to ask a question again.
type refresher struct {
	id      int       // of the open question, 0 without one
	asked   time.Time // the last question
	known   time.Time // when the question of the last answer was asked
	took    time.Duration
	changed bool // something has, since the question was asked
}

// due reports whether the time has come to ask.
func (r *refresher) due(now time.Time) bool {
	if r.id != 0 {
		return false
	}
	pause := refreshPeriod
	if r.changed {
		pause = refreshDelay
	}
	return now.Sub(r.asked) >= max(pause, min(refreshShare*r.took, maxPause))
}

// ask notes that the question with an id is asked.
func (r *refresher) ask(id int, now time.Time) {
	r.id, r.asked, r.changed = id, now, false
}

// answered notes an answer, and reports whether it is that of the open question.
func (r *refresher) answered(id int, took time.Duration) bool {
	if id != r.id {
		return false
	}
	r.id, r.took, r.known = 0, took, r.asked
	return true
}
