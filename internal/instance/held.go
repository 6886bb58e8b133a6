package instance

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// maxSocketPath is the longest path of a socket that every system supports.
const maxSocketPath = 103

// Held is an instance that this process has. Make it with Hold.
type Held struct {
	Instance
	lock     io.Closer
	listener net.Listener
	// temporary is the folder of the socket, if that is not in the data directory.
	temporary string
	// fresh means that the instance did not exist before.
	fresh bool
	// ready is nil until the control plane serves.
	ready atomic.Pointer[Record]
}

// ErrInUse means that another process has the instance.
var ErrInUse = errors.New("is in use by another process")

// Hold takes an instance for this process, and makes its directory. Errors: ErrInUse.
func (i Instance) Hold() (*Held, error) {
	h := &Held{Instance: i, fresh: !i.Exists()}
	if err := os.MkdirAll(i.path(""), 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	var err error
	if h.lock, err = vfs.Default.Lock(i.path("lock")); err != nil {
		return nil, fmt.Errorf("%s %w", i.DataDir, ErrInUse)
	}
	return h, nil
}

// Listen answers commands at the instance's socket until Close.
func (h *Held) Listen(c Commands) (err error) {
	if h.listener, err = h.listen(); err != nil {
		return fmt.Errorf("the socket of the instance: %w", err)
	}
	server := &http.Server{Handler: h.handler(c)}
	go func() { _ = server.Serve(h.listener) }() // until Close
	return nil
}

// listen opens the socket: in the data directory, or, if that does not take it, in a temporary one.
func (h *Held) listen() (net.Listener, error) {
	path := h.path("control.sock")
	if err := errors.Join(removeFile(path), removeFile(h.path("socket"))); err != nil {
		return nil, err
	}
	if len(path) <= maxSocketPath {
		if l, err := listenUnix(path); err == nil {
			return l, nil
		}
	}
	var err error
	if h.temporary, err = os.MkdirTemp("", "fairlead-"); err != nil {
		return nil, err
	}
	path = filepath.Join(h.temporary, "control.sock")
	l, err := listenUnix(path)
	if err != nil {
		return nil, err
	}
	return l, h.replace("socket", []byte(path+"\n"))
}

func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Ready records that the control plane serves.
func (h *Held) Ready(r Record) error {
	last, err := h.Record()
	if err != nil {
		return err
	}
	r.Created = last.Created
	if r.Created.IsZero() {
		r.Created = r.Started
	}
	if err := h.write(r); err != nil {
		return err
	}
	h.ready.Store(&r)
	return nil
}

// Close lets another process have the instance. Of one that does not remain, or that has never been ready, it removes the
// files of this package, and directories that are empty then.
func (h *Held) Close(remains bool) error {
	var errs []error
	if h.listener != nil {
		errs = append(errs, h.listener.Close()) // which removes the socket
	}
	if h.temporary != "" {
		errs = append(errs, os.RemoveAll(h.temporary))
	}
	remove := !remains || h.fresh && h.ready.Load() == nil
	if remove {
		errs = append(errs, h.forget())
		// While it has the lock; on Windows, where an open file cannot be removed, without the lock itself.
		_ = os.RemoveAll(h.path(""))
	}
	errs = append(errs, h.lock.Close())
	if remove {
		// These fail if another process has the instance by now, or a directory is not empty.
		_ = os.Remove(h.path(""))
		_ = os.Remove(h.DataDir)
	}
	return errors.Join(errs...)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
