package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// assetsVariable is the environment variable in which envtest looks for its programs.
const assetsVariable = "KUBEBUILDER_ASSETS"

// noKubectl stands in for kubectl where there is none: envtest itself does not run it.
const noKubectl = `#!/bin/sh
echo "kubectl: none was installed when 'fairlead assets' made this folder: install one (go install fairlead.dev/cmd/kubectl@latest) and run 'fairlead assets' again" >&2
exit 1
`

func newAssets() *cobra.Command {
	var env bool
	var output string
	cmd := &cobra.Command{
		Use:   "assets [DIR]",
		Short: "Make a folder of programs for envtest: kube-apiserver, etcd and kubectl",
		Long: `Make a folder for KUBEBUILDER_ASSETS, from which envtest starts its control plane:
kube-apiserver and etcd are this program under other names, kubectl is yours.

FAIRLEAD_CONTROLLERS='*' and FAIRLEAD_NODES=3 in a suite's environment run
controllers, scheduler and nodes too, which envtest has not.`,
		Example: `  # In a shell or in CI, before go test
  eval "$(fairlead assets --env)"

  # In a Makefile
  KUBEBUILDER_ASSETS=$(shell fairlead assets -o dir) go test ./...`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("fairlead assets takes one folder, not %q", args)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" && output != "json" && output != "dir" {
				return usageError{fmt.Errorf("-o %s: want json or dir", output)}
			}
			dir, err := assetsDir(args)
			if err != nil {
				return err
			}
			if err := writeAssets(dir); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case output == "json":
				return json.NewEncoder(out).Encode(map[string]string{"dir": dir})
			case output == "dir":
				fmt.Fprintln(out, dir)
				return nil
			case !env:
				newProgress(os.Stderr).step("Assets", dir+": kube-apiserver, etcd, kubectl")
			}
			fmt.Fprintf(out, "export %s=%s\n", assetsVariable, shellQuote(dir))
			return nil
		},
	}
	cmd.Flags().BoolVar(&env, "env", false, "print only the export line")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or dir: print the folder instead of the export line")
	return cmd
}

// assetsDir returns the absolute path of the folder: the argument, or one in the user's cache.
func assetsDir(args []string) (string, error) {
	if len(args) == 1 {
		return filepath.Abs(args[0])
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for caches: name one: fairlead assets DIR: %w", err)
	}
	return filepath.Join(cache, "fairlead", "assets"), nil
}

// writeAssets makes the folder. It replaces what an earlier call has made, and refuses a folder with programs of others.
func writeAssets(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return err
	}
	names := []string{"kube-apiserver", "etcd", "kubectl"}
	for _, name := range names {
		if err := checkAsset(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if isTemporary(program) {
		kept := filepath.Join(dir, "fairlead")
		if err := replaceFile(kept, func(to string) error { return copyProgram(program, to) }); err != nil {
			return err
		}
		program = kept
	}
	for _, name := range names[:2] {
		if err := replaceFile(filepath.Join(dir, name), func(to string) error { return os.Symlink(program, to) }); err != nil {
			return err
		}
	}
	return replaceFile(filepath.Join(dir, "kubectl"), func(to string) error { return writeKubectl(dir, program, to) })
}

// checkAsset returns an error for a file that writeAssets has not made.
func checkAsset(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	if info.Mode().IsRegular() && info.Size() == int64(len(noKubectl)) {
		if text, err := os.ReadFile(path); err == nil && string(text) == noKubectl {
			return nil
		}
	}
	return fmt.Errorf("%s is not from fairlead assets: choose another folder", path)
}

// isTemporary reports whether the program is one of `go run`, which removes it at the end.
func isTemporary(program string) bool {
	return strings.Contains(filepath.ToSlash(program), "/go-build")
}

// replaceFile makes a file with another name and renames it, so that running programs and concurrent calls see the old
// file or the new one.
func replaceFile(path string, write func(to string) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	temporary.Close()
	if err := os.Remove(temporary.Name()); err != nil {
		return err
	}
	if err := write(temporary.Name()); err != nil {
		os.Remove(temporary.Name())
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// writeKubectl links to the kubectl beside the program or in the PATH.
func writeKubectl(dir, program, to string) error {
	candidates := []string{filepath.Join(filepath.Dir(program), "kubectl")}
	if found, err := exec.LookPath("kubectl"); err == nil {
		candidates = append(candidates, found)
	}
	for _, c := range candidates {
		c, err := filepath.Abs(c)
		if err != nil || filepath.Dir(c) == dir {
			continue
		}
		if info, err := os.Stat(c); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return os.Symlink(c, to)
		}
	}
	return os.WriteFile(to, []byte(noKubectl), 0o755)
}
