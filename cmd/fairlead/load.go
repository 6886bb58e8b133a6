package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/instance"
)

func newLoad() *cobra.Command {
	var f saveFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "load SAVE",
		Short: "Replace all objects and keys of a server by a saved cluster",
		Long: `Load replaces all objects, keys and certificates of a server, running or stopped, by those of
a saved cluster. A running server keeps its address, and its kubeconfig and your context
are written anew. Clients that have the kubeconfig of the saved cluster, or the new one,
go on: their watches end, and they list again.

fairlead up --load starts a new server from a saved cluster.`,
		Example: `  fairlead load before-upgrade
  fairlead load fixture --name=shop
  fairlead up -d --name=copy --in-memory --load=fixture`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, file, err := f.choose(args)
			if err != nil {
				return err
			}
			title := saveTitle(args, file)
			if err := requireSave(title, file); err != nil {
				return err
			}
			if err := confirm(yes, "Replace all objects of "+in.String()+" by those of "+title+"?"); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
			defer cancel()
			p := newProgress(os.Stderr)
			defer p.end()
			loaded, err := load(ctx, p, in, file)
			if err != nil {
				return err
			}
			p.step("Loaded", describeSaved(title, loaded))
			return nil
		},
	}
	f.register(cmd)
	registerYes(cmd, &yes)
	return cmd
}

// load replaces the state of an instance, running or stopped, by that of a file.
func load(ctx context.Context, p *progress, in instance.Instance, file string) (loaded instance.Saved, err error) {
	process, err := in.Connect()
	if err == nil {
		return process.Load(ctx, file, p.meter("Loading", "revisions").at)
	}
	if !errors.Is(err, instance.ErrStopped) {
		return loaded, err
	}
	return loaded, withStopped(in, func() error {
		last, err := controlplane.StoredState(ctx, in.DataDir, p.meter("Reading", "revisions").at)
		if err != nil {
			return err
		}
		state, saved, err := controlplane.ReadState(file, p.meter("Reading", "revisions").at)
		loaded = instance.Saved(saved)
		if err != nil {
			return err
		}
		return state.Since(last).Replace(in.DataDir, p.meter("Loading", "keys").at)
	})
}

// registerLoad adds the flag of `up` for a saved cluster.
func registerLoad(cmd *cobra.Command, load *string) {
	cmd.Flags().StringVar(load, "load", "", "begin with the objects and keys of a cluster that fairlead save has written: its name, or the path of a file, with a "+string(filepath.Separator))
	_ = cmd.RegisterFlagCompletionFunc("load", completeSave) // the flag exists
}

// loadFile returns the path of --load; "" without the flag.
func (f serveFlags) loadFile() (string, error) {
	if f.load == "" || strings.ContainsRune(f.load, filepath.Separator) {
		return f.load, nil
	}
	return savePath(f.load)
}

// loadState returns the state of --load; nil without the flag.
func (f serveFlags) loadState(p *progress) (*controlplane.State, error) {
	file, err := f.loadFile()
	if err != nil || file == "" {
		return nil, err
	}
	if err := requireSave(f.load, file); err != nil {
		return nil, err
	}
	has, err := controlplane.HasStore(f.options.DataDir)
	if err == nil && has && !f.options.InMemory {
		err = fmt.Errorf("%s has objects already: start it without --load, and replace them with `fairlead load`", f.options.DataDir)
	}
	if err != nil {
		return nil, err
	}
	state, saved, err := controlplane.ReadState(file, p.meter("Reading", "revisions").at)
	if err == nil {
		p.step("Loaded", describeSaved(f.load, instance.Saved(saved)))
	}
	return state, err
}
