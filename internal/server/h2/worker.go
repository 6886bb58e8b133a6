package h2

import "time"

// A handler's goroutine grows its stack as deep as the handler goes, by a copy for each doubling; for a small
// request that is a tenth of its cost. A goroutine whose handler has returned therefore waits a while for the next
// request of its connection.
const (
	// maxSpare is how many goroutines wait, and spareLife the minimum time that an unused one waits.
	maxSpare  = 8
	spareLife = 5 * time.Second
)

// worker is a goroutine that runs handlers or waits for one.
type worker struct {
	next chan *exchange // nil ends it
}

// spare holds the waiting workers of a connection. It is guarded by conn.mu.
type spare struct {
	idle []*worker
	used bool // since the last check
}

// handle runs the exchange's handler on a worker. conn.mu is held.
func (c *conn) handle(x *exchange) {
	s := &c.mu.spare
	if n := len(s.idle); n > 0 {
		w := s.idle[n-1]
		s.idle[n-1], s.idle = nil, s.idle[:n-1]
		s.used = true
		w.next <- x // has room: an idle worker has one exchange at most
		return
	}
	go c.work(x)
}

func (c *conn) work(x *exchange) {
	w := &worker{next: make(chan *exchange, 1)}
	for x != nil {
		x.run()
		if !c.keepWorker(w) {
			return
		}
		x = <-w.next
	}
}

// keepWorker reports whether the worker is to wait for another exchange.
func (c *conn) keepWorker(w *worker) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.mu.spare
	if c.mu.err != nil || c.mu.goingAway || len(s.idle) >= maxSpare {
		return false
	}
	if len(s.idle) == 0 {
		c.scheduleCheck(time.Now().Add(spareLife))
	}
	s.idle = append(s.idle, w)
	return true
}

// stopAll ends the waiting workers. conn.mu is held.
func (s *spare) stopAll() {
	for i, w := range s.idle {
		w.next <- nil
		s.idle[i] = nil
	}
	s.idle = s.idle[:0]
}
