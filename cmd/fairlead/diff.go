package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	clienthistory "fairlead.dev/internal/client/history"
	"fairlead.dev/internal/history"
	"fairlead.dev/internal/history/text"
)

type diffCommand struct {
	historyFlags
	at []string
}

func newDiff() *cobra.Command {
	var f diffCommand
	cmd := &cobra.Command{
		Use:   "diff KIND/NAME [REVISION [REVISION]]",
		Short: "Show what changed in an object between two of its states",
		Long: `Diff shows the difference between two states of an object as a unified diff of their
YAML: its last change, or from the state at a revision to the present one, or between two
revisions. --at names states by time, a duration before now or a time of RFC 3339.

A revision may be any of the server's: the state is that of the object's last write up
to it. Managed fields and the resource version are left out.`,
		Example: `  fairlead diff deployment/web                 # its last change
  fairlead diff deployment/web 4711            # from revision 4711 to now
  fairlead diff deployment/web 4711 4720 -o fields
  fairlead diff deployment/web --at=-5m        # the last five minutes
  fairlead diff deployment/web --at=-10m --at=-5m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, sides, err := f.check(args)
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), object, sides)
		},
	}
	f.register(cmd, "fields (a table) or json")
	cmd.Flags().StringArrayVar(&f.at, "at", nil, "the state at this time, such as -5m; may be given twice")
	return cmd
}

// A side reads one of the states to compare.
type side func(context.Context, clienthistory.Reader) (*history.State, error)

func (f *diffCommand) check(args []string) (object [2]string, sides []side, err error) {
	object, rest, err := subject("diff", args)
	if err != nil {
		return object, nil, err
	}
	for _, arg := range rest {
		revision, err := parseRevision(arg)
		if err != nil {
			return object, nil, err
		}
		sides = append(sides, func(ctx context.Context, r clienthistory.Reader) (*history.State, error) { return r.At(ctx, revision) })
	}
	for _, arg := range f.at {
		at, err := parseMoment(arg)
		if err != nil {
			return object, nil, err
		}
		sides = append(sides, func(ctx context.Context, r clienthistory.Reader) (*history.State, error) { return r.AtTime(ctx, at) })
	}
	switch {
	case len(rest) > 0 && len(f.at) > 0 || len(sides) > 2:
		return object, nil, errors.New("diff takes at most two revisions, or two --at")
	case f.output != "" && f.output != "fields" && f.output != "json":
		return object, nil, fmt.Errorf("-o %s: want fields or json", f.output)
	}
	return object, sides, nil
}

func (f *diffCommand) run(ctx context.Context, out, aside io.Writer, object [2]string, sides []side) error {
	r, err := f.reader(ctx, object)
	if err != nil {
		return err
	}
	from, to, err := pair(ctx, r, sides)
	if err != nil {
		return err
	}
	return f.write(out, aside, object[0]+"/"+object[1], from, to)
}

// pair reads the two states: those of the sides, up to the present one, or those of the last change.
func pair(ctx context.Context, r clienthistory.Reader, sides []side) (from, to *history.State, err error) {
	states, page, err := r.Last(ctx, 2)
	switch {
	case err != nil:
		return nil, nil, err
	case len(states) == 0:
		return nil, nil, errors.New(compacted(page))
	case len(sides) == 0 && len(states) == 2:
		return &states[1], &states[0], nil
	case len(sides) == 0 && states[0].Type == history.Added:
		return &history.State{Type: history.Deleted}, &states[0], nil
	case len(sides) == 0:
		return nil, nil, fmt.Errorf("the state before the last change, revision %d, is not kept: %s", states[0].Revision, compacted(page))
	}
	if from, err = sides[0](ctx, r); err != nil {
		return nil, nil, err
	}
	if to = &states[0]; len(sides) > 1 {
		to, err = sides[1](ctx, r)
	}
	return from, to, err
}

func (f *diffCommand) write(out, aside io.Writer, name string, from, to *history.State) error {
	for _, s := range []*history.State{from, to} {
		if s.Error != "" {
			return fmt.Errorf("the state at revision %d cannot be read: %s", s.Revision, s.Error)
		}
	}
	before, err := from.Decode()
	if err != nil {
		return err
	}
	after, err := to.Decode()
	if err != nil {
		return err
	}
	changes, st := history.Changes(before, after), style(out)
	switch {
	case f.output == "json":
		from.Object, to.Object = nil, nil
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"from": from, "to": to, "changes": append([]history.Change{}, changes...)})
	case len(changes) == 0:
		_, err := fmt.Fprintf(aside, "No difference between the states of revisions %d and %d\n", from.Revision, to.Revision)
		return err
	case f.output == "fields":
		return text.Fields(out, changes, st)
	}
	return text.Diff(out, text.Side{Label: stateLabel(name, from), Object: before}, text.Side{Label: stateLabel(name, to), Object: after}, st)
}

// stateLabel names a state in the head of a diff.
func stateLabel(name string, s *history.State) string {
	switch {
	case s.Revision == 0:
		return name + " did not exist"
	case s.Time.IsZero():
		return fmt.Sprintf("%s revision %d", name, s.Revision)
	}
	label := fmt.Sprintf("%s revision %d, %s, %s", name, s.Revision, s.Time.Local().Format(time.DateTime), text.What(s))
	if s.User != "" {
		label += " by " + s.User
	}
	return label
}
