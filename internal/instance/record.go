package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Record describes the last start of an instance, for later commands.
type Record struct {
	// Server is the URL of the API server.
	Server  string `json:"server"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// Created is when the instance started for the first time, Started when it did last.
	Created time.Time `json:"created"`
	Started time.Time `json:"started"`
	// InMemory means that the objects end with the process.
	InMemory bool `json:"inMemory,omitempty"`
	// Etcd are the servers of the etcd cluster that stores the objects.
	Etcd []string `json:"etcd,omitempty"`
	// Nodes is the number of simulated nodes.
	Nodes int `json:"nodes"`
	// Kubeconfig is the path of the kubeconfig. Merged is the path of the user's own one, if it has the context, too.
	Kubeconfig string `json:"kubeconfig"`
	Merged     string `json:"mergedKubeconfig,omitempty"`
	// Detached means that the process is in the background, and writes a log.
	Detached bool `json:"detached,omitempty"`
}

// Record returns the record of the last start; the zero Record before the first one.
func (i Instance) Record() (r Record, err error) {
	path := i.path("record.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// write replaces the record.
func (i Instance) write(r Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return i.replace("record.json", append(text, '\n'))
}

// replace replaces a file as a whole.
func (i Instance) replace(file string, text []byte) error {
	part := i.path(file + ".part") // written by the holder of the lock alone
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	return os.Rename(part, i.path(file))
}
