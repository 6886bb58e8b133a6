package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/instance"
)

// backgroundVariable marks a process in the background, which reports its start on standard output.
const backgroundVariable = "FAIRLEAD_BACKGROUND"

// startReport is a line of JSON that a process in the background sends to the one that started it: a finished step, the progress
// of a long one, or the last line, which is about readiness or a failure.
type startReport struct {
	Step    string `json:"step,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Warn    bool   `json:"warn,omitempty"`
	Passing string `json:"passing,omitempty"`
	Ready   *ready `json:"ready,omitempty"`
	Text    string `json:"text,omitempty"`
	Error   string `json:"error,omitempty"`
}

// startReporter returns the function that reports the start of this process, and whether it is in the background.
func startReporter() (report func(startReport), inBackground bool) {
	if os.Getenv(backgroundVariable) == "" {
		return nil, false
	}
	signal.Ignore(syscall.SIGPIPE) // once the reader is gone, and over a restart in place
	out := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // the log
	return func(r startReport) {
		_ = out.Encode(r) // its reader ends with the start
	}, true
}

// detach starts this command again in the background, and returns when the server is ready.
func detach(cmd *cobra.Command, f serveFlags, in instance.Instance) error {
	if _, err := in.Connect(); err == nil {
		return inUse(in, instance.ErrInUse)
	}
	undo, log, err := in.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	began, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(program, os.Args[1:]...)
	child.Env = append(os.Environ(), backgroundVariable+"=1")
	child.Stderr = log
	child.SysProcAttr = ownSession()
	reports, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return errors.Join(err, undo())
	}
	defer context.AfterFunc(cmd.Context(), func() { terminate(child.Process) })()
	p := newProgress(os.Stderr)
	last := follow(p, reports)
	p.end()
	if last.Ready != nil {
		if f.output == "json" {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(last.Ready)
		} else {
			p.line(last.Text)
		}
		return errors.Join(err, child.Process.Release())
	}
	ended := child.Wait()
	if last.Error == "" {
		last.Error = fmt.Sprintf("the process ended before it was ready: %v%s", ended, lastLine(log, began))
	}
	if cmd.Context().Err() != nil {
		last.Error = "interrupted before the server was ready"
	}
	return errors.Join(errors.New(last.Error), undo())
}

// follow prints the steps of a start, and returns the last report.
func follow(p *progress, reports io.Reader) (last startReport) {
	for lines := json.NewDecoder(reports); ; {
		last = startReport{}
		if err := lines.Decode(&last); err != nil {
			return startReport{}
		}
		switch {
		case last.Passing != "":
			p.passing(last.Passing)
		case last.Step == "":
			return last
		case last.Warn:
			p.warn(last.Step, last.Detail)
		default:
			p.step(last.Step, last.Detail)
		}
	}
}

// lastLine returns the last line of a log from an offset on, as the end of a message.
func lastLine(log io.ReaderAt, from int64) string {
	text, err := io.ReadAll(io.NewSectionReader(log, from, 1<<20))
	if text = bytes.TrimSpace(text); err != nil || len(text) == 0 {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	return ": " + lines[len(lines)-1]
}
