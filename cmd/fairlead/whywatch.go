package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"golang.org/x/term"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
)

const (
	// whyDelay is how long a change waits for further ones before the explanation is made again.
	whyDelay = 500 * time.Millisecond
	// whyPeriod is how often it is made without a change: some reasons depend on the time.
	whyPeriod = 10 * time.Second
)

// follow writes an answer whenever it differs from the last one: on a terminal in its place, otherwise below a line with the
// time. It asks again after each event of the trace.
func (f *whyFlags) follow(ctx context.Context, c *client.Client, out io.Writer, ask func() (why.Answer, error)) error {
	changed, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		ended <- lives.Each(ctx, c, url.Values{"follow": {"true"}, "limit": {"1"}}, func([]byte, show.Event) error {
			select {
			case changed <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	var last string
	for {
		a, err := ask()
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := f.write(&text, a, palette(out)); err != nil {
			return err
		}
		if text.String() != last {
			last = text.String()
			if err := f.replace(out, last); err != nil {
				return err
			}
		}
		select {
		case <-changed:
			select {
			case <-time.After(whyDelay):
			case <-ctx.Done():
			}
		case <-time.After(whyPeriod):
		case err := <-ended:
			if ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// replace writes a text in place of the last one, or below it if out is no terminal.
func (f *whyFlags) replace(out io.Writer, text string) error {
	if file, ok := out.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(file.Fd())) {
		text = "\x1b[H\x1b[2J" + text
	} else if f.output == "" {
		text = fmt.Sprintf("-- %s\n%s", time.Now().Format(time.TimeOnly), strings.TrimRight(text, "\n")+"\n")
	}
	_, err := io.WriteString(out, text)
	return err
}
