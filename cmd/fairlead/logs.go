package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/internal/instance"
)

// followInterval is the pause between two looks at a log that is followed.
const followInterval = 200 * time.Millisecond

func newLogs() *cobra.Command {
	var f instanceFlags
	var follow bool
	var tail int
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Print the log of a server in the background",
		Example: `  fairlead logs
  fairlead logs shop -f --tail=20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if tail < -1 {
				return usageError{fmt.Errorf("--tail=%d: want a number of lines, or -1 for all", tail)}
			}
			in, err := f.find(args)
			if err != nil {
				return err
			}
			return printLog(cmd.Context(), cmd.OutOrStdout(), in, tail, follow)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines until the server ends")
	cmd.Flags().IntVar(&tail, "tail", -1, "number of lines to print, the last ones; -1 for all")
	return cmd
}

// printLog prints the last lines of a log, and follows it if asked to.
func printLog(ctx context.Context, out io.Writer, in instance.Instance, tail int, follow bool) error {
	record, err := in.Record()
	if err != nil {
		return err
	}
	log, err := os.Open(in.LogPath())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !record.Detached && !record.Started.IsZero() {
		return fmt.Errorf("%s was started without --detach: its log is on its terminal", in)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	text, err := io.ReadAll(log)
	if err != nil {
		return err
	}
	if _, err := out.Write(lastLines(text, tail)); err != nil || !follow {
		return err
	}
	return followLog(ctx, out, in, log)
}

// followLog copies new lines of a log until the process of the instance has ended, or ctx ends.
func followLog(ctx context.Context, out io.Writer, in instance.Instance, log io.Reader) error {
	for t := time.NewTicker(followInterval); ; {
		_, ended := in.Connect() // before the copy, which then has the process's last line
		if _, err := io.Copy(out, log); err != nil || ended != nil {
			t.Stop()
			return err
		}
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
	}
}

// lastLines returns the last n lines of a text; all if n is below 0.
func lastLines(text []byte, n int) []byte {
	if n < 0 {
		return text
	}
	end := len(bytes.TrimSuffix(text, []byte("\n")))
	for at := end; ; n-- {
		if n == 0 {
			return text[min(at+1, len(text)):]
		}
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
}
