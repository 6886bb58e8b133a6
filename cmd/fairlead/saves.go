package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/internal/instance"
)

// savedCluster is a saved cluster in the output of saves.
type savedCluster struct {
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	Saved time.Time `json:"saved"`
	File  string    `json:"file"`
}

func newSaves() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "saves",
		Short: "List the saved clusters, or delete some",
		Example: `  fairlead saves
  fairlead saves delete before-upgrade`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(output); err != nil {
				return err
			}
			all, err := listSaves()
			if err != nil {
				return err
			}
			if output != "" {
				return encode(cmd.OutOrStdout(), output, map[string]any{"saves": all})
			}
			return printSaves(cmd.OutOrStdout(), all)
		},
	}
	registerFormat(cmd, &output)
	cmd.AddCommand(&cobra.Command{
		Use: "delete SAVE...", Short: "Delete saved clusters", ValidArgsFunction: completeSaves,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("saves delete takes names of saved clusters")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			p := newProgress(os.Stderr)
			for _, name := range args {
				file, err := savePath(name)
				if err == nil {
					err = requireSave(name, file)
				}
				if err == nil {
					err = os.Remove(file)
				}
				if err != nil {
					return err
				}
				p.step("Deleted", name)
			}
			return nil
		},
	})
	return cmd
}

// listSaves returns the saved clusters in the order of their names.
func listSaves() ([]savedCluster, error) {
	all := []savedCluster{}
	dir, err := instance.SavesDir()
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name, ok := strings.CutSuffix(file.Name(), saveSuffix)
		if !ok || instance.CheckName(name) != nil {
			continue
		}
		info, err := file.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, savedCluster{name, info.Size(), info.ModTime(), filepath.Join(dir, file.Name())})
	}
	return all, nil
}

func printSaves(out io.Writer, all []savedCluster) error {
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tBYTES\tAGE\tFILE")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", s.Name, s.Bytes, duration.HumanDuration(time.Since(s.Saved)), s.File)
	}
	return w.Flush()
}

// completeSave completes the name of a saved cluster, as the only argument or as the value of a flag.
func completeSave(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeSaves(cmd, args, prefix)
}

// completeSaves completes names of saved clusters.
func completeSaves(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := listSaves()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError | cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
