package instance

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// ErrNoHome means that the user has no state directory.
var ErrNoHome = errors.New("no home directory: set HOME or XDG_STATE_HOME")

// The folders of the state directory.
const (
	namedDir     = "instances"
	directoryDir = "directories"
	savesDir     = "saves"
)

// stateHome returns the user's state directory.
func stateHome() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // as the specification demands
		var err error
		if base, err = systemStateHome(); err != nil {
			return "", ErrNoHome
		}
	}
	return filepath.Join(base, "fairlead"), nil
}

// systemStateHome is where the system's programs keep the state of a user.
func systemStateHome() (string, error) {
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%
	case "darwin":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// SavesDir returns the directory of the saved clusters.
func SavesDir() (string, error) {
	home, err := stateHome()
	return filepath.Join(home, savesDir), err
}
