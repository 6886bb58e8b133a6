package faults

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Action is the effect of a fault.
type Action string

const (
	// Hold sends no events to a watch.
	Hold Action = "hold"
	// Delay sends each event of a watch later by Fault.Delay.
	Delay Action = "delay"
	// Reorder holds each event until a later one has been sent on another watch, but for Fault.Delay at most. The
	// events of one watch stay in order; those of different watches do not.
	Reorder Action = "reorder"
	// Drop closes the open watches.
	Drop Action = "drop"
	// Pause keeps no history: a watch that is behind, or starts at an earlier revision, gets 410 Expired.
	Pause Action = "pause"
	// Fail makes a write fail with Code, without effect.
	Fail Action = "fail"
	// Slow delays a write by Fault.Delay.
	Slow Action = "slow"
	// Expire lets Leases run out: the client that holds one when the fault is added cannot renew it until another
	// client has held it. Without a selection it ends the store's own leases, and with them the objects attached to
	// them: events.
	Expire Action = "expire"
)

// Actions lists all actions.
var Actions = []Action{Hold, Delay, Reorder, Drop, Pause, Fail, Slow, Expire}

// Fault is one injected fault.
type Fault struct {
	// ID identifies the fault in its Set; Add assigns it.
	ID     uint64 `json:"id"`
	Action Action `json:"action"`

	Client    string `json:"client,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Verb      string `json:"verb,omitempty"`

	// Delay is required for Delay and Slow, and optional for Reorder, where 0 means a second.
	Delay Duration `json:"delay,omitzero"`
	// Nth is the first write affected, counted from when the fault was added; 0 means 1. Times is the number of
	// writes affected; 0 means 1, a negative number all.
	Nth   int `json:"nth,omitempty"`
	Times int `json:"times,omitempty"`
	// Code is the status code with which a write or a renewal fails: 403, 409, 429, 500, 503 or 504; 0 means 500.
	Code int `json:"code,omitempty"`

	// Seen counts the writes that matched the selection; Struck counts the watches, writes, renewals or store
	// leases affected.
	Seen   int `json:"seen,omitempty"`
	Struck int `json:"struck"`

	// held has the holders of the Leases that are to run out, by the Leases' UIDs.
	held map[string]string
}

// Duration is a time.Duration that is written as "1.5s" in JSON.
type Duration time.Duration

// MarshalJSON writes the format that time.ParseDuration reads.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the format of MarshalJSON.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	got, err := time.ParseDuration(text)
	*d = Duration(got)
	return err
}

// Target is a watch or a write that a fault may affect.
type Target struct {
	User, Agent                     string
	Resource, Namespace, Name, Verb string
}

// about reports whether a fault selects the target.
func (f *Fault) about(t Target) bool {
	return (f.Client == "" || f.Client == t.User || strings.HasSuffix(t.User, ":"+f.Client) || strings.HasPrefix(t.Agent, f.Client)) &&
		(f.Resource == "" || f.Resource == t.Resource) && (f.Namespace == "" || f.Namespace == t.Namespace) &&
		(f.Name == "" || f.Name == t.Name) && (f.Verb == "" || f.Verb == t.Verb)
}

// watches reports whether the fault affects watches until it is removed.
func (f *Fault) watches() bool {
	return f.Action == Hold || f.Action == Delay || f.Action == Reorder || f.Action == Pause
}

func (f *Fault) writes() bool { return f.Action == Fail || f.Action == Slow }

// complete validates a fault and fills in defaults.
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
		return fmt.Errorf("%s does not apply to writes: it takes no nth, times, verb or name", f.Action)
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
