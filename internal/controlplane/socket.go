package controlplane

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"

	"fairlead.dev/internal/connections"
	"fairlead.dev/storage/etcdserver"
)

// SocketName is the name, in the store's folder, of the socket at which an embedded
// store that runs is served as etcd to the owner of the data directory, for
// `fairlead store`.
const SocketName = "etcd.sock"

// maxSocketPath is the longest path of a Unix socket that every system supports.
const maxSocketPath = 103

// A socket is served from the first connection on: most stores never see one, and
// an etcd endpoint takes memory.
type socket struct {
	listener net.Listener
	mu       sync.Mutex
	server   *etcdserver.Server // guarded by mu
	closed   bool               // guarded by mu
}

// listenSocket opens the socket of an open embedded store, and so replaces one that a crash
// has left. It returns nil without an embedded store, and if the socket's path is too long:
// then the store can only be reached by Options.EtcdListen.
func listenSocket(o Options) (*socket, error) {
	if o.InMemory || len(o.Etcd.Servers) > 0 {
		return nil, nil
	}
	path := filepath.Join(o.DataDir, storeDir, SocketName)
	if len(path) > maxSocketPath {
		o.Log.Warn("the path is too long for a socket: fairlead store reaches this store only with --etcd-listen and --endpoints", "path", path)
		return nil, nil
	}
	l, err := listenUnix(path)
	if err != nil {
		return nil, err
	}
	return &socket{listener: l}, nil
}

// unixScheme is the prefix of a Unix socket's address; its path follows.
const unixScheme = "unix://"

// listenUnix opens a socket to which only this user may connect. It replaces a socket
// without a listener, as a crash leaves it.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is not a socket", path)
		}
		if c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"}); err == nil {
			c.Close()
			return nil, fmt.Errorf("another process listens on %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
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

// serve answers until close.
func (s *socket) serve(c etcdserver.Config) error {
	l := connections.Patient(s.listener, slog.Default())
	first, err := l.Accept()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		if err == nil {
			first.Close()
		}
		return nil
	}
	if err != nil {
		s.mu.Unlock()
		return err
	}
	server := etcdserver.New(c)
	s.server = server
	s.mu.Unlock()
	return server.Serve(&accepted{Listener: l, first: first})
}

// close stops serving and removes the socket.
func (s *socket) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	server := s.server
	s.mu.Unlock()
	if server != nil {
		server.Close() // first: then the listener's end is no failure
	}
	s.listener.Close()
}

// accepted is a listener of which one connection was taken already. One goroutine
// accepts.
type accepted struct {
	net.Listener
	first net.Conn
}

func (a *accepted) Accept() (net.Conn, error) {
	if c := a.first; c != nil {
		a.first = nil
		return c, nil
	}
	return a.Listener.Accept()
}
