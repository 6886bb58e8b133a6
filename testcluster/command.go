package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// commands sends commands to a process, one at a time, and receives its responses: see "Commands on standard input" in
// docs/testing.md.
type commands struct {
	process *process
	// turn holds a token while a command waits for its response. It guards broken, the error of all further commands.
	turn   chan struct{}
	broken error
}

func newCommands(p *process) *commands { return &commands{process: p, turn: make(chan struct{}, 1)} }

// hosted is a control plane in a response.
type hosted struct{ Cluster, Server, Kubeconfig, Revision string }

// send sends a command and returns its response. After the end of ctx no other command can be sent, since the response is
// still to come.
func (c *commands) send(ctx context.Context, command string) (out hosted, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return out, ctx.Err()
	}
	if c.broken != nil {
		return out, c.broken
	}
	if _, err := fmt.Fprintln(c.process.in, command); err != nil {
		return out, c.breakOff(err)
	}
	select {
	case line, ok := <-c.process.lines:
		if !ok {
			return out, c.breakOff(errors.New("fairlead has ended"))
		}
		var response struct {
			hosted
			Error string
		}
		if err := json.Unmarshal(line, &response); err != nil {
			return out, c.breakOff(fmt.Errorf("it printed %q instead of a line of JSON", line))
		}
		if response.Error != "" {
			return out, errors.New(response.Error)
		}
		return response.hosted, nil
	case <-ctx.Done():
		go c.process.drain()
		return out, c.breakOff(ctx.Err())
	}
}

// breakOff makes all further commands fail, and returns the error.
func (c *commands) breakOff(err error) error {
	c.broken = err
	return err
}
