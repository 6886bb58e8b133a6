package images

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/chance"
)

// Run identifies a run of a container: all that is random of it follows from the run, so that every process and every look at
// the pod finds the same.
type Run struct {
	Pod       types.UID
	Container string
	Restarts  int32
}

// chance returns a number of the run for a purpose, between 0 and 1 without 1.
func (r Run) chance(purpose string) float64 {
	return chance.Of(fmt.Sprintf("%s/%s/%d/%s", r.Pod, r.Container, r.Restarts, purpose))
}

// Pull, Start, Ready and RunFor return the times of a run; 0 for those that the behavior does not declare. Ends is false for a
// container that runs until it is stopped.
func (b *Behavior) Pull(r Run) time.Duration  { return b.PullTime.of(r, "pull") }
func (b *Behavior) Start(r Run) time.Duration { return b.StartTime.of(r, "start") }
func (b *Behavior) Ready(r Run) time.Duration { return b.ReadyTime.of(r, "ready") }
func (b *Behavior) RunFor(r Run) (d time.Duration, ends bool) {
	return b.RunTime.of(r, "run"), !b.RunTime.Forever
}

// Exit returns how a run ends; the behavior has Exits.
func (b *Behavior) Exit(r Run) Exit {
	sum := 0
	for i := range b.Exits {
		sum += b.Exits[i].weight()
	}
	n := int(r.chance("exit") * float64(sum))
	for i := range b.Exits {
		if n -= b.Exits[i].weight(); n < 0 {
			return b.Exits[i]
		}
	}
	return b.Exits[len(b.Exits)-1]
}

// Span is a time that a run takes, between two bounds: "30s", "30s..1m" or "forever".
type Span struct {
	Least, Most time.Duration
	Forever     bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Span) UnmarshalJSON(text []byte) error {
	var word string
	err := json.Unmarshal(text, &word)
	if word == "forever" {
		*s = Span{Forever: true}
		return nil
	}
	least, most, ranged := strings.Cut(word, "..")
	if !ranged {
		most = least
	}
	if err == nil {
		s.Least, err = time.ParseDuration(least)
	}
	if err == nil {
		s.Most, err = time.ParseDuration(most)
	}
	if err != nil || s.Least < 0 || s.Most < s.Least {
		return fmt.Errorf("%s: want a time such as 30s, a range such as 30s..1m, or forever", text)
	}
	return nil
}

func (s *Span) of(r Run, purpose string) time.Duration {
	if s == nil {
		return 0
	}
	return s.At(r.chance(purpose))
}

// At returns the time at a share of the span, from 0 to 1.
func (s *Span) At(share float64) time.Duration {
	return s.Least + time.Duration(share*float64(s.Most-s.Least))
}
