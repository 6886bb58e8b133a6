package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/history"
	"fairlead.dev/internal/history/text"
)

type historyCommand struct {
	historyFlags
	limit int
}

func newHistory() *cobra.Command {
	var f historyCommand
	cmd := &cobra.Command{
		Use:   "history KIND/NAME",
		Short: "List the states of an object: when, by whom, and which fields changed",
		Long: `History lists the states of an object that the store still has, the newest first: each
write's revision, time, verb, user and field managers, the event that caused it, and the
fields that it changed. The server's --history is how long states are kept.

The user, the verb and the cause are known while the server's trace has the write
(--trace-events); the managers are those of the changed fields. A time with a tilde is
right to some seconds.`,
		Example: `  fairlead history deployment/web
  fairlead history cm/settings -n shop --limit=10 -o wide
  fairlead history pod/web-x -o json      # with the objects`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, rest, err := subject("history", args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("history takes one KIND/NAME, and not %q", rest[0])
			}
			if err == nil {
				err = f.check()
			}
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), object)
		},
	}
	f.register(cmd, "wide, json or yaml")
	cmd.Flags().IntVar(&f.limit, "limit", history.DefaultLimit, "number of states, the newest ones; 0 for all")
	return cmd
}

func (f *historyCommand) check() error {
	switch {
	case f.limit < 0:
		return errors.New("--limit must be 0 or more")
	case f.output != "" && f.output != "wide" && f.output != "json" && f.output != "yaml":
		return fmt.Errorf("-o %s: want wide, json or yaml", f.output)
	}
	return nil
}

func (f *historyCommand) run(ctx context.Context, out, aside io.Writer, object [2]string) error {
	r, err := f.reader(ctx, object)
	if err != nil {
		return err
	}
	r.Objects = f.output == "json" || f.output == "yaml"
	var states []history.State
	page, err := r.Each(ctx, 0, func(s *history.State) (bool, error) {
		states = append(states, *s)
		return f.limit == 0 || len(states) < f.limit, nil
	})
	if err != nil {
		return err
	}
	if page.States = states; r.Objects {
		return f.write(out, page)
	}
	st := style(out)
	st.Now = page.Now
	if err := text.Table(out, states, st, f.output == "wide"); err != nil {
		return err
	}
	note := compacted(page)
	if f.limit > 0 && len(states) == f.limit && (page.Before > 0 || page.Compacted == 0 && states[len(states)-1].Type != history.Added) {
		note = "There are earlier states: --limit=0 lists all"
	}
	if note != "" {
		fmt.Fprintln(aside, note)
	}
	return nil
}
