package connections

import (
	"errors"
	"log/slog"
	"net"
	"time"
)

// patient waits between two attempts to accept.
type patient struct {
	net.Listener
	log *slog.Logger
}

// Patient returns a listener whose Accept waits and tries again after errors that pass, such as a lack of file descriptors
// (EMFILE), of which it tells the log.
func Patient(l net.Listener, log *slog.Logger) net.Listener { return patient{l, log} }

// The pause before the first attempt, which doubles up to the longest one.
const (
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
)

// Accept implements net.Listener.
func (p patient) Accept() (net.Conn, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		c, err := p.Listener.Accept()
		var passing interface{ Temporary() bool } // net.Error deprecates it for all but this use
		if err == nil || !errors.As(err, &passing) || !passing.Temporary() {
			return c, err
		}
		if pause == firstPause {
			p.log.Warn("connections wait", "address", p.Addr().String(), "error", err)
		}
		time.Sleep(pause)
	}
}
