package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// smuggled are HTTP/1.1 requests whose end two servers in a row can find in different places
// (RFC 9112, section 11.2), and other malformed requests that every server should reject.
var smuggled = []string{
	"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG",
	"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
	"POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
	"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: +36\r\n\r\n",
	"POST %s HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded: 2\r\n\r\n",
	"GET %s HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	"GET %s HTTP/1.1\r\n\r\n",
	"GET %s HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
	"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
	"GET http://example.com%s HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET %s HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\n",
}

// dial1 opens a connection for HTTP/1.1.
func (s *server) dial1(ctx context.Context) (net.Conn, error) {
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}}
	return d.DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "https://"))
}

func smuggle(ctx context.Context, s *server) string {
	var o outcomes
	for _, text := range smuggled {
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, "/version")
		}
		conn, err := s.dial1(ctx)
		if err != nil {
			return err.Error()
		}
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		io.WriteString(conn, text)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			o.add("cut off")
		} else {
			o.add(fmt.Sprint(resp.StatusCode))
		}
		conn.Close()
	}
	return o.String()
}

// held opens connections that send a little and then stop, and counts those that the server
// closes.
func held(greet func(ctx context.Context, s *server) (net.Conn, error)) func(context.Context, *server) string {
	return func(ctx context.Context, s *server) string {
		var o outcomes
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				conn, err := greet(ctx, s)
				if err != nil {
					o.add("refused")
					return
				}
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				io.Copy(io.Discard, conn)
				if ctx.Err() != nil {
					o.add("held to the end")
				} else {
					o.add("closed")
				}
			})
		}
		wg.Wait()
		return o.String()
	}
}

// slowHeaders sends the beginning of a request.
func slowHeaders(ctx context.Context, s *server) (net.Conn, error) {
	conn, err := s.dial1(ctx)
	if err == nil {
		_, err = io.WriteString(conn, "GET /version HTTP/1.1\r\nHost: a\r\nX-A: ")
	}
	return conn, err
}

// stalledTLS sends the first bytes of a handshake.
func stalledTLS(ctx context.Context, s *server) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "https://"))
	if err == nil {
		_, err = conn.Write([]byte{22, 3, 1, 2, 0, 1})
	}
	return conn, err
}
