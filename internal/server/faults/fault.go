package faults

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Action is what a fault does.
type Action string

const (
	// Hold sends a watch nothing.
	Hold Action = "hold"
	// Delay sends each event of a watch so much later.
	Delay Action = "delay"
	// Reorder keeps each event back until a later one has been sent on another watch, as
	// long as Delay at most: one watch's events stay in order, those of several do not.
	Reorder Action = "reorder"
	// Drop cuts off the watches that are open.
	Drop Action = "drop"
	// Pause keeps no history: a watch that has not been sent all there is, or begins
	// behind it, is told 410.
	Pause Action = "pause"
	// Fail answers a write with an error, Code, and writes nothing.
	Fail Action = "fail"
	// Slow keeps a write waiting for Delay before it goes on.
	Slow Action = "slow"
	// Expire lets Leases run out: who holds one when the fault is added cannot renew it any more,
	// until somebody else has it. With no selection it ends the store's own leases, and with
	// each the objects that it keeps: events.
	Expire Action = "expire"
)

// Actions are all there are.
var Actions = []Action{Hold, Delay, Reorder, Drop, Pause, Fail, Slow, Expire}

// Fault is one thing that is broken.
type Fault struct {
	// ID is the Set's name for it; Add chooses one.
	ID     uint64 `json:"id"`
	Action Action `json:"action"`

	Client    string `json:"client,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Verb      string `json:"verb,omitempty"`

	// Delay is for Delay and Slow, which need it, and Reorder, where 0 means a second.
	Delay Duration `json:"delay,omitzero"`
	// Nth is the first write to be struck, counted from when the fault was added; 0 means 1.
	// Times is how many are; 0 means 1, less than 0 all.
	Nth   int `json:"nth,omitempty"`
	Times int `json:"times,omitempty"`
	// Code is what a write, or a renewal, fails with: 403, 409, 429, 500, 503 or 504; 0 means 500.
	Code int `json:"code,omitempty"`

	// Seen counts the writes that were of the fault's selection, Struck what it has
	// been done to: watches, writes, renewals, or leases of the store.
	Seen   int `json:"seen,omitempty"`
	Struck int `json:"struck"`

	// held is who holds the Leases that are to run out, by their UIDs.
	held map[string]string
}

// Duration is a time.Duration that JSON shows as "1.5s".
type Duration time.Duration

// MarshalJSON writes the form that time.ParseDuration reads.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads it.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	got, err := time.ParseDuration(text)
	*d = Duration(got)
	return err
}

// Target is a watch or a write that may be struck.
type Target struct {
	User, Agent                     string
	Resource, Namespace, Name, Verb string
}

// about says whether a fault is meant for the target.
func (f *Fault) about(t Target) bool {
	return (f.Client == "" || f.Client == t.User || strings.HasSuffix(t.User, ":"+f.Client) || strings.HasPrefix(t.Agent, f.Client)) &&
		(f.Resource == "" || f.Resource == t.Resource) && (f.Namespace == "" || f.Namespace == t.Namespace) &&
		(f.Name == "" || f.Name == t.Name) && (f.Verb == "" || f.Verb == t.Verb)
}

// watches says whether the fault is one of watches that lasts.
func (f *Fault) watches() bool {
	return f.Action == Hold || f.Action == Delay || f.Action == Reorder || f.Action == Pause
}

func (f *Fault) writes() bool { return f.Action == Fail || f.Action == Slow }

// complete checks a fault and fills in what was left out.
func (f *Fault) complete() error {
	switch f.Action {
	case Hold, Drop, Pause, Expire, Fail:
		if f.Delay != 0 {
			return fmt.Errorf("%s takes no delay", f.Action)
		}
	case Delay, Slow:
		if f.Delay <= 0 {
			return fmt.Errorf("%s needs a delay above 0", f.Action)
		}
	case Reorder:
		if f.Delay == 0 {
			f.Delay = Duration(time.Second)
		}
		if f.Delay < 0 {
			return fmt.Errorf("a delay of %v: want 0 or more", time.Duration(f.Delay))
		}
	default:
		return fmt.Errorf("action %q: want one of %q", f.Action, Actions)
	}
	if f.Action == Expire {
		if err := f.chooseLeases(); err != nil {
			return err
		}
	}
	if !f.writes() && (f.Nth != 0 || f.Times != 0 || f.Verb != "" || f.Name != "" && !f.ofLeases()) {
		return fmt.Errorf("%s is not of writes: it takes no nth, times, verb or name", f.Action)
	}
	if f.writes() {
		if f.Nth < 0 {
			return fmt.Errorf("nth %d: want 1 or more", f.Nth)
		}
		f.Nth = max(f.Nth, 1)
		if f.Times == 0 {
			f.Times = 1
		}
	}
	switch f.Code {
	case 0:
		if f.Action == Fail || f.ofLeases() {
			f.Code = 500
		}
	case 403, 409, 429, 500, 503, 504:
		if f.Action != Fail && !f.ofLeases() {
			return fmt.Errorf("%s takes no code", f.Action)
		}
	default:
		return fmt.Errorf("code %d: want 403, 409, 429, 500, 503 or 504", f.Code)
	}
	f.ID, f.Seen, f.Struck, f.held = 0, 0, 0, nil
	return nil
}
