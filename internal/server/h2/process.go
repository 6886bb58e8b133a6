package h2

import (
	"golang.org/x/net/http2"
)

// process handles one frame. An error ends the connection.
func (c *conn) process(f http2.Frame) error {
	if mh, ok := f.(*http2.MetaHeadersFrame); ok {
		return c.headers(mh)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.WindowUpdateFrame:
		return c.windowUpdate(f)
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
		c.framer.WritePing(true, f.Data)
		return c.checkControlFrames()
	case *http2.DataFrame:
		return c.data(f)
	case *http2.RSTStreamFrame:
		return c.rstStream(f)
	case *http2.PriorityFrame:
		if f.StreamID == f.StreamDep {
			return c.resetAny(f.StreamID, http2.ErrCodeProtocol)
		}
	case *http2.GoAwayFrame:
		c.sendGoAway()
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// refuse handles a frame that the framer found invalid for its stream.
func (c *conn) refuse(se http2.StreamError) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if se.StreamID%2 == 1 {
		c.mu.lastStream = max(c.mu.lastStream, se.StreamID)
	}
	return c.resetAny(se.StreamID, se.Code)
}

// isIdle reports whether the client has not opened the stream yet (RFC 9113's idle state).
func (c *conn) isIdle(id uint32) bool { return id%2 == 0 || id > c.mu.lastStream }

func (c *conn) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		if c.mu.unackedSettings--; c.mu.unackedSettings < 0 {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		return nil
	}
	if f.NumSettings() > 100 { // RFC 9113 defines 6, and permits repetition
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if err := f.ForeachSetting(c.setting); err != nil {
		return err
	}
	c.framer.WriteSettingsAck()
	return c.checkControlFrames()
}

func (c *conn) setting(s http2.Setting) error {
	if err := s.Valid(); err != nil {
		return err
	}
	switch s.ID {
	case http2.SettingHeaderTableSize:
		c.mu.hpack.SetMaxDynamicTableSize(min(s.Val, 4096))
	case http2.SettingMaxFrameSize:
		c.mu.maxFrame = int(min(s.Val, outLimit))
	case http2.SettingInitialWindowSize:
		more := int64(s.Val) - c.mu.initial
		c.mu.initial = int64(s.Val)
		for _, st := range c.mu.streams {
			if !increaseWindow(&st.window, st.granted, more) {
				return http2.ConnectionError(http2.ErrCodeFlowControl)
			}
			c.resumeStream(st)
		}
	}
	return nil
}

func (c *conn) windowUpdate(f *http2.WindowUpdateFrame) error {
	n := int64(f.Increment)
	if f.StreamID == 0 {
		if !increaseWindow(&c.mu.window, c.mu.granted, n) {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
		c.resumeStalled()
		c.write()
		return nil
	}
	if c.isIdle(f.StreamID) {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	st := c.mu.streams[f.StreamID]
	if st == nil {
		return nil
	}
	if !increaseWindow(&st.window, st.granted, n) {
		return c.resetAny(st.id, http2.ErrCodeFlowControl)
	}
	if st.in == nil || st.in == &c.mu.stalled {
		c.resumeStream(st)
		c.write()
	}
	return nil
}

func (c *conn) rstStream(f *http2.RSTStreamFrame) error {
	if c.isIdle(f.StreamID) {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if st := c.mu.streams[f.StreamID]; st != nil {
		c.close(st, http2.StreamError{StreamID: st.id, Code: f.ErrCode})
	}
	return nil
}

// data receives a piece of a body.
func (c *conn) data(f *http2.DataFrame) error {
	id, n := f.StreamID, int64(f.Length)
	if c.isIdle(id) {
		if c.mu.goingAway {
			return nil
		}
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if !c.mu.receive.take(n) {
		return http2.ConnectionError(http2.ErrCodeFlowControl)
	}
	st := c.mu.streams[id]
	if st != nil && !st.remoteEnded && (st.x == nil || st.x.body == nil) {
		c.consumed(nil, int(n)) // the handler has returned
		st.remoteEnded = f.StreamEnded()
		return nil
	}
	if st == nil || st.remoteEnded {
		c.consumed(nil, int(n)) // it will not be read
		if st == nil && c.recentlyReset(id) {
			return nil
		}
		if c.mu.goingAway && id > c.mu.lastAccepted {
			return nil
		}
		return c.resetAny(id, http2.ErrCodeStreamClosed)
	}
	body, data := st.x.body, f.Data()
	if !st.x.receive.take(n) {
		c.consumed(nil, int(n))
		return c.resetAny(id, http2.ErrCodeFlowControl)
	}
	if !body.fits(len(data)) {
		c.consumed(nil, int(n))
		return c.resetAny(id, http2.ErrCodeProtocol)
	}
	c.consumed(st, int(n)-len(data)) // the padding
	if !body.add(data) {
		c.consumed(nil, len(data))
	}
	if f.StreamEnded() {
		st.endRemote()
	}
	return nil
}
