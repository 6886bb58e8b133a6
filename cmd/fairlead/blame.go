package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/history"
	"fairlead.dev/internal/history/text"
)

func newBlame() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "blame KIND/NAME",
		Short: "Show an object with the last change of each field: revision, age and user",
		Long: `Blame prints an object as YAML. In front of each line are the revision and the age of the
last change of its field, and the user who made it, or the field manager if the server's
trace does not have the write any more. Of a field that changed before the kept history,
the managed fields of the object give the manager, and the time of the manager's last write.`,
		Example: `  fairlead blame deployment/web
  fairlead blame cm/settings -n shop -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, rest, err := subject("blame", args)
			switch {
			case err != nil:
			case len(rest) > 0:
				err = fmt.Errorf("blame takes one KIND/NAME, and not %q", rest[0])
			case f.output != "" && f.output != "json":
				err = fmt.Errorf("-o %s: want json", f.output)
			}
			if err != nil {
				return usageError{err}
			}
			return f.blame(cmd.Context(), cmd.OutOrStdout(), object)
		},
	}
	f.register(cmd, "json")
	return cmd
}

func (f *historyFlags) blame(ctx context.Context, out io.Writer, object [2]string) error {
	r, err := f.reader(ctx, object)
	if err != nil {
		return err
	}
	var b history.Blame
	page, err := r.Each(ctx, 0, func(s *history.State) (bool, error) {
		if b.Object == nil && s.Type == history.Deleted {
			return false, fmt.Errorf("%s/%s was deleted, at revision %d", object[0], object[1], s.Revision)
		}
		if s.Error != "" {
			return false, fmt.Errorf("the state at revision %d cannot be read: %s", s.Revision, s.Error)
		}
		o, err := s.Decode()
		return b.Add(s, o), err
	})
	if err != nil {
		return err
	}
	if f.output == "json" {
		return writeOrigins(out, &b)
	}
	st := style(out)
	st.Now = page.Now
	return text.Blame(out, &b, st)
}

// fieldOrigin is the last change of a field, for machines.
type fieldOrigin struct {
	Field    history.FieldPath `json:"field"`
	Revision int64             `json:"revision,omitempty"`
	Time     time.Time         `json:"time,omitzero"`
	User     string            `json:"user,omitempty"`
	Managers []string          `json:"managers,omitempty"`
}

func writeOrigins(out io.Writer, b *history.Blame) error {
	all := []fieldOrigin{}
	for _, p := range b.Fields() {
		o, _ := b.Of(p)
		at := fieldOrigin{Field: p, Time: o.Time()}
		switch {
		case o.State != nil:
			at.Revision, at.User, at.Managers = o.State.Revision, o.State.User, o.State.Managers
		case o.Owner.Manager != "":
			at.Managers = []string{o.Owner.Manager}
		}
		all = append(all, at)
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}
