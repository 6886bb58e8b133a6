package controlplane

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// DebugSocket is a Unix socket that answers each request, without authentication and authorization. Only this user may
// connect to it. Forks and control planes of a Host do not have it.
type DebugSocket struct {
	// Path is the socket's; "" is no socket.
	Path    string
	Handler http.Handler
}

// debugHeaderTime limits the time in which a client of the socket sends the header of a request.
const debugHeaderTime = 10 * time.Second

// serveDebug serves the debug socket, if there is one, until ctx ends. A failure later than its start is only logged.
func (cp *ControlPlane) serveDebug(ctx context.Context) error {
	o := cp.options.DebugSocket
	if o.Path == "" || cp.base != nil || cp.options.Front != nil {
		return nil
	}
	l, err := listenUnix(o.Path)
	if err != nil {
		return optionErrorf("--debug-socket-path: %w", err)
	}
	s := &http.Server{Handler: o.Handler, ReadHeaderTimeout: debugHeaderTime}
	context.AfterFunc(ctx, func() { s.Close() })
	cp.serving.Go(func() error {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			cp.options.Log.Error("the debug socket is not served any more", "path", o.Path, "err", err)
		}
		return nil
	})
	return nil
}
