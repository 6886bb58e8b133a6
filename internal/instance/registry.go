package instance

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// List returns all instances of this user: those with a name, in its order, then the others by their directories. It forgets
// those whose directory is gone.
func List() ([]Instance, error) {
	home, err := stateHome()
	if err != nil {
		return nil, err
	}
	names, err := entries(filepath.Join(home, namedDir))
	if err != nil {
		return nil, err
	}
	var all []Instance
	for _, name := range names {
		if CheckName(name) == nil {
			all = append(all, Instance{name, filepath.Join(home, namedDir, name)})
		}
	}
	others, err := directories(filepath.Join(home, directoryDir))
	return append(all, others...), err
}

// directories returns the instances of the files in a folder, and removes files of directories that are no instance any more.
func directories(folder string) ([]Instance, error) {
	files, err := entries(folder)
	if err != nil {
		return nil, err
	}
	var all []Instance
	for _, file := range files {
		path := filepath.Join(folder, file)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process forgets it
		}
		if err != nil {
			return nil, err
		}
		i := Instance{DataDir: strings.TrimSuffix(string(text), "\n")}
		if !i.Exists() {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Instance) int { return cmp.Compare(a.DataDir, b.DataDir) })
	return all, nil
}

// entries returns the names in a folder, which need not exist.
func entries(folder string) (names []string, err error) {
	list, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

// Register makes List find the instance. One with a name is found by its place.
func (i Instance) Register() error {
	if i.Name != "" {
		return nil
	}
	path, err := i.registration()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(i.DataDir+"\n"), 0o600)
}

// registration is the path of the file by which List finds an instance without a name.
func (i Instance) registration() (string, error) {
	home, err := stateHome()
	sum := sha256.Sum256([]byte(i.DataDir))
	return filepath.Join(home, directoryDir, hex.EncodeToString(sum[:8])), err
}

// forget undoes Register.
func (i Instance) forget() error {
	if i.Name != "" {
		return nil
	}
	path, err := i.registration()
	if errors.Is(err, ErrNoHome) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
