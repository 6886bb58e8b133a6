package main

import (
	"fmt"
	"strconv"
	"time"
)

// A meter prints the progress of work that takes longer than a second: what is done, how fast, and how long the rest takes.
// On a terminal one line is written over; elsewhere a line follows a second after the start, and others after pauses
// that double up to a minute. Its caller sees to it that reports do not overlap.
type meter struct {
	p           *progress
	verb, units string
	began, next time.Time
	pause       time.Duration
}

const (
	meterPause     = time.Second // before the first line, and between lines that follow
	meterLongPause = time.Minute
	meterRewrite   = 200 * time.Millisecond // on a terminal
)

// meter begins the work that the verb names, such as Restoring, of units such as keys.
func (p *progress) meter(verb, units string) *meter {
	now := time.Now()
	return &meter{p: p, verb: verb, units: units, began: now, next: now.Add(meterPause), pause: meterPause}
}

// at reports how much is done, of how much in all; 0 if that is not known.
func (m *meter) at(done, total int64) {
	now := time.Now()
	if now.Before(m.next) {
		return
	}
	m.p.passing(m.text(done, total, now.Sub(m.began)))
	if m.p.terminal {
		m.next = now.Add(meterRewrite)
		return
	}
	m.pause = min(2*m.pause, meterLongPause)
	m.next = now.Add(m.pause)
}

func (m *meter) text(done, total int64, took time.Duration) string {
	rate := float64(done) / took.Seconds()
	if total <= 0 {
		return fmt.Sprintf("   %-12s %s %s, %s/s", m.verb, grouped(done), m.units, grouped(int64(rate)))
	}
	left := "?"
	if rate > 0 {
		left = time.Duration(float64(total-done) / rate * float64(time.Second)).Round(time.Second).String()
	}
	return fmt.Sprintf("   %-12s %s of %s %s (%d %%), %s/s, %s left", m.verb, grouped(done), grouped(total), m.units, 100*done/total, grouped(int64(rate)), left)
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
