package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/instance"
)

// saveFlags are the common flags of save and load: a saved cluster, and the server.
type saveFlags struct {
	server  instanceFlags
	name    string
	file    string
	timeout time.Duration
}

func (f *saveFlags) register(cmd *cobra.Command) {
	f.server.register(cmd)
	registerName(cmd, cmd.Flags(), &f.name, "name of the server (default FAIRLEAD_NAME, else the one of this directory)")
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "path of the file, in place of the name of a saved cluster")
	_ = cmd.MarkFlagFilename("file") // the flag exists
	registerTimeout(cmd, &f.timeout)
	cmd.ValidArgsFunction = completeSave
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if (len(args) == 1) == (f.file != "") || len(args) > 1 {
			return usageError{fmt.Errorf("%s takes the name of a saved cluster, or --file", cmd.CommandPath())}
		}
		return nil
	}
}

// select returns the instance, and the absolute path of the file.
func (f *saveFlags) choose(args []string) (in instance.Instance, file string, err error) {
	if len(args) > 0 {
		file, err = savePath(args[0])
	} else {
		file, err = filepath.Abs(f.file)
	}
	if err != nil {
		return in, "", err
	}
	var server []string
	if f.name != "" {
		server = []string{f.name}
	}
	in, err = f.server.find(server)
	return in, file, err
}

// saveSuffix is the suffix of the files of saved clusters, as of other snapshots of stores.
const saveSuffix = ".db"

// savePath returns the path of a saved cluster.
func savePath(name string) (string, error) {
	if err := instance.CheckName(name); err != nil {
		return "", usageError{fmt.Errorf("%w; a path goes with --file", err)}
	}
	dir, err := instance.SavesDir()
	return filepath.Join(dir, name+saveSuffix), err
}

func newSave() *cobra.Command {
	var f saveFlags
	var force bool
	cmd := &cobra.Command{
		Use:   "save SAVE",
		Short: "Save all objects and keys of a server under a name, or to a file",
		Long: `Save writes all objects of a server at one revision, and its keys and certificates, to one
file, while it serves. 'fairlead load' and 'fairlead up --load' bring them back, and
kubeconfigs and tokens that the server has issued are good for them. The file has
private keys.`,
		Example: `  fairlead save before-upgrade
  fairlead save fixture --name=shop --force
  fairlead save -f testdata/cluster.db`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, file, err := f.choose(args)
			if err != nil {
				return err
			}
			if _, err := os.Stat(file); err == nil && !force {
				return fmt.Errorf("%s exists: --force replaces it", saveTitle(args, file))
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
			defer cancel()
			p := newProgress(os.Stderr)
			defer p.end()
			saved, err := save(ctx, p, in, file)
			if err != nil {
				return err
			}
			p.step("Saved", describeSaved(saveTitle(args, file), saved))
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "replace a saved cluster")
	return cmd
}

// save saves an instance, running or stopped.
func save(ctx context.Context, p *progress, in instance.Instance, file string) (saved instance.Saved, err error) {
	process, err := in.Connect()
	if err == nil {
		return process.Save(ctx, file, p.meter("Saving", "keys").at)
	}
	if !errors.Is(err, instance.ErrStopped) {
		return saved, err
	}
	return saved, withStopped(in, func() error {
		state, err := controlplane.StoredState(ctx, in.DataDir, p.meter("Reading", "revisions").at)
		if err != nil {
			return err
		}
		written, err := state.Save(ctx, file, p.meter("Saving", "keys").at)
		saved = instance.Saved(written)
		return err
	})
}

// saveTitle is the name of a saved cluster in messages, else the path of its file.
func saveTitle(args []string, file string) string {
	if len(args) > 0 {
		return args[0]
	}
	return file
}

func describeSaved(title string, s instance.Saved) string {
	return fmt.Sprintf("%s: %d keys at revision %d, %d bytes", title, s.Keys, s.Revision, s.Bytes)
}

// requireSave words the error of a missing file of a saved cluster.
func requireSave(title, file string) error {
	_, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no saved cluster %s: `fairlead saves` shows all", title)
	}
	return err
}
