package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	clienthistory "fairlead.dev/internal/client/history"
	"fairlead.dev/internal/history"
	"fairlead.dev/internal/history/text"
)

type undoCommand struct {
	historyFlags
	to          int64
	yes, dryRun bool
}

func newUndo() *cobra.Command {
	var f undoCommand
	cmd := &cobra.Command{
		Use:   "undo KIND/NAME",
		Short: "Write an object as it was in an earlier state, after a preview",
		Long: `Undo prints the difference between the object and an earlier state of it, as the server
would store that, and with --yes writes it: a new write, by you, on the condition that
the object has not changed meanwhile. The status and the metadata that the server sets
stay as they are. An object that has been deleted is created again, with a new UID.
References to owners that are gone are left out, since the garbage collector would delete
the object on their account; one to an owner that was created again gets its new UID.

Without --to, the state is the one before the last change that a user made to anything but
the status. Changes by the control plane itself (the controllers of kube-system, the
scheduler, nodes) do not count. So a second undo takes back the first.`,
		Example: `  fairlead undo deployment/web             # a preview
  fairlead undo deployment/web --yes
  fairlead undo cm/settings --to=4711 --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, rest, err := subject("undo", args)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("undo takes one KIND/NAME, and not %q: name the state by --to", rest[0])
			}
			if err == nil {
				err = f.check(cmd.Flags().Changed("to"))
			}
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), object)
		},
	}
	f.register(cmd, "json or yaml: the object, in place of the difference")
	cmd.Flags().Int64Var(&f.to, "to", 0, "the revision of the state to go back to")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "write the object")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only print what would be written")
	return cmd
}

func (f *undoCommand) check(to bool) error {
	switch {
	case to && f.to < 1:
		return fmt.Errorf("--to=%d: want a revision, as `fairlead history` lists them", f.to)
	case f.yes && f.dryRun:
		return errors.New("--yes and --dry-run exclude each other")
	case f.output != "" && f.output != "json" && f.output != "yaml":
		return fmt.Errorf("-o %s: want json or yaml", f.output)
	}
	return nil
}

func (f *undoCommand) run(ctx context.Context, out, aside io.Writer, object [2]string) error {
	r, err := f.reader(ctx, object)
	if err != nil {
		return err
	}
	now, state, err := f.states(ctx, r)
	if err != nil {
		return err
	}
	current, err := now.Decode()
	if err != nil {
		return err
	}
	then, err := state.Decode()
	if err != nil {
		return err
	}
	u := undo{
		writer: clienthistory.Writer{Reader: r, FieldManager: "fairlead-undo"}, name: object[0] + "/" + object[1],
		state: state, current: current, object: history.Restore(then, current),
	}
	gone, err := r.Reown(ctx, u.object)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		fmt.Fprintf(aside, "References to owners that are gone are left out: %s\n", strings.Join(gone, ", "))
	}
	result, err := u.preview(ctx)
	if err != nil {
		return err
	}
	if len(history.Changes(current, result)) == 0 {
		_, err := fmt.Fprintf(aside, "%s is as it was at revision %d\n", u.name, state.Revision)
		return err
	}
	if f.yes {
		if result, err = u.writer.Write(ctx, u.object, current != nil, false); err != nil {
			return u.failure(err)
		}
	}
	if f.output != "" {
		return f.write(out, result)
	}
	from := text.Side{Label: stateLabel(u.name, now), Object: current}
	if err := text.Diff(out, from, text.Side{Label: fmt.Sprintf("%s as at revision %d", u.name, state.Revision), Object: result}, style(out)); err != nil {
		return err
	}
	return f.report(aside, u.name, state.Revision, result)
}

// report tells what was done.
func (f *undoCommand) report(aside io.Writer, name string, revision int64, result map[string]any) (err error) {
	switch {
	case f.yes:
		meta, _ := result["metadata"].(map[string]any)
		_, err = fmt.Fprintf(aside, "%s has its state of revision %d again, as revision %v\n", name, revision, meta["resourceVersion"])
	case !f.dryRun:
		_, err = fmt.Fprintln(aside, "Nothing was written: --yes writes it")
	}
	return err
}

// states reads the present state and the one to go back to.
func (f *undoCommand) states(ctx context.Context, r clienthistory.Reader) (now, state *history.State, err error) {
	var find history.Search
	page, err := r.Each(ctx, 0, func(s *history.State) (bool, error) {
		if now == nil {
			now = s
		}
		if f.to > 0 {
			return false, nil
		}
		o, err := s.Decode()
		if err != nil {
			return false, err
		}
		found, err := find.Add(s, o)
		if found {
			state = s
		}
		return !found, err
	})
	switch {
	case err != nil:
		return nil, nil, err
	case now == nil:
		return nil, nil, errors.New(compacted(page))
	case now.Error != "":
		return nil, nil, fmt.Errorf("the state at revision %d cannot be read: %s", now.Revision, now.Error)
	case f.to > 0:
		state, err = r.At(ctx, f.to)
	case state == nil:
		err = find.End()
		if note := compacted(page); note != "" && errors.Is(err, history.ErrNoUserChange) {
			err = fmt.Errorf("%w: %s", err, note)
		}
	}
	switch {
	case err != nil:
		return nil, nil, err
	case state.Type == history.Deleted:
		return nil, nil, fmt.Errorf("the object did not exist at revision %d: it was deleted at %d", f.to, state.Revision)
	case state.Error != "":
		return nil, nil, fmt.Errorf("the state at revision %d cannot be read: %s", state.Revision, state.Error)
	}
	return now, state, nil
}

// undo is the write of an earlier state.
type undo struct {
	writer          clienthistory.Writer
	name            string
	state           *history.State
	current, object map[string]any
}

// preview returns the object as the server would store it. If an admission webhook refuses dry runs,
// it is the object that would be sent.
func (u *undo) preview(ctx context.Context) (map[string]any, error) {
	result, err := u.writer.Write(ctx, u.object, u.current != nil, true)
	if clienthistory.NoDryRun(err) {
		return u.object, nil
	}
	return result, u.failure(err)
}

// failure words an error of the write.
func (u *undo) failure(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%s has changed meanwhile, and nothing was written: try again (%w)", u.name, err)
	}
	return err
}
