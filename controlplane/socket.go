package controlplane

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"

	"fairlead.dev/storage/etcdserver"
)

// SocketName is the name, in the store's folder, of the socket at which an embedded
// store that runs is served as etcd to the owner of the data directory, for
// `fairlead store`.
const SocketName = "etcd.sock"

// maxSocketPath is what fits into the address of a Unix socket on every system.
const maxSocketPath = 103

// A socket is served from the first connection on: most stores never see one, and
// an etcd endpoint takes memory.
type socket struct {
	listener net.Listener
	mu       sync.Mutex
	server   *etcdserver.Server // guarded by mu
	closed   bool               // guarded by mu
}

// listenSocket opens the socket of an embedded store that is open, and so replaces
// one that a crash has left. It is nil where there is none, and where its path is
// too long: then the store can only be reached by Options.EtcdListen.
func listenSocket(o Options) (*socket, error) {
	if o.InMemory || len(o.Etcd.Servers) > 0 {
		return nil, nil
	}
	path := filepath.Join(o.DataDir, storeDir, SocketName)
	if len(path) > maxSocketPath {
		o.Log.Warn("the path is too long for a socket: fairlead store reaches this store only with --etcd-listen and --endpoints", "path", path)
		return nil, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	// The folder lets nobody else in; neither does the socket.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return &socket{listener: l}, nil
}

// serve answers until close.
func (s *socket) serve(c etcdserver.Config) error {
	first, err := s.listener.Accept()
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
	return server.Serve(&accepted{Listener: s.listener, first: first})
}

// close ends what is served and removes the socket.
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
