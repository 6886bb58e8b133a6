package testenv

import (
	"bytes"
	"io"
	"sync"
)

// maxLog is how many bytes of a log are kept, at least.
const maxLog = 64 << 10

// log keeps the end of a control plane's log, and hands all of it on.
type log struct {
	to io.Writer // may be nil

	mu   sync.Mutex
	text []byte
}

// Write never fails: a writer that does gets no more of the log.
func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text = append(l.text, b...); len(l.text) > 2*maxLog {
		l.text = append([]byte(nil), l.text[len(l.text)-maxLog:]...)
	}
	if l.to != nil {
		if _, err := l.to.Write(b); err != nil {
			l.to = nil
		}
	}
	return len(b), nil
}

// String returns the end of the log.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimRight(l.text, "\n"))
}
