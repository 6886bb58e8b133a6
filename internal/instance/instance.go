package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Dir is the folder of a data directory that has the files of this package.
const Dir = "instance"

// Instance is a control plane of this user, running or not.
type Instance struct {
	// Name is "" for an instance that is known by its directory alone.
	Name string
	// DataDir is the absolute path of its data directory.
	DataDir string
}

// Named returns the instance of a name, which must be a DNS label. It need not exist.
func Named(name string) (Instance, error) {
	if err := CheckName(name); err != nil {
		return Instance{}, err
	}
	home, err := stateHome()
	if err != nil {
		return Instance{}, err
	}
	return Instance{name, filepath.Join(home, namedDir, name)}, nil
}

// CheckName returns an error for a name that is no DNS label.
func CheckName(name string) error {
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
		return fmt.Errorf("the name %q: %s", name, strings.Join(wrong, "; "))
	}
	return nil
}

// At returns the instance of a data directory. It need not exist.
func At(dir string) (Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Instance{}, err
	}
	i := Instance{DataDir: dir}
	if home, err := stateHome(); err == nil && filepath.Dir(dir) == filepath.Join(home, namedDir) {
		i.Name = filepath.Base(dir)
	}
	return i, nil
}

// String returns the name, or the directory of an instance without a name.
func (i Instance) String() string {
	if i.Name != "" {
		return i.Name
	}
	return i.DataDir
}

// Context is the name of its context in kubeconfigs.
func (i Instance) Context() string {
	if i.Name != "" {
		return "fairlead-" + i.Name
	}
	return "fairlead"
}

// LogPath is the file with the output of a process in the background.
func (i Instance) LogPath() string { return i.path("log") }

// Exists reports whether there is a directory of the instance.
func (i Instance) Exists() bool {
	at := i.path("")
	if i.Name != "" {
		at = i.DataDir
	}
	_, err := os.Stat(at)
	return err == nil
}

// path returns the path of a file of this package.
func (i Instance) path(file string) string { return filepath.Join(i.DataDir, Dir, file) }

// OpenLog opens the log of a process in the background to append to it, and makes the directories. undo closes it and removes
// all files that OpenLog and a process that was never ready have made.
func (i Instance) OpenLog() (undo func() error, log *os.File, err error) {
	_, missing := os.Stat(i.DataDir)
	fresh := !i.Exists()
	if err := os.MkdirAll(i.path(""), 0o700); err != nil {
		return nil, nil, fmt.Errorf("data directory: %w", err)
	}
	if log, err = os.OpenFile(i.LogPath(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600); err != nil {
		return nil, nil, err
	}
	undo = func() error {
		log.Close()
		if !fresh && missing == nil {
			return nil
		}
		h, err := i.Hold()
		if errors.Is(err, ErrInUse) {
			return nil // another process has made it its own
		}
		if err != nil {
			return err
		}
		if err := h.Close(false); err != nil || missing == nil {
			return err
		}
		return os.RemoveAll(i.DataDir)
	}
	return undo, log, nil
}
