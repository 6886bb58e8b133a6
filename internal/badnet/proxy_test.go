package badnet_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/internal/badnet"
)

// echo starts an echo server behind a proxy.
func echo(t *testing.T) *badnet.Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	p, err := badnet.New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func dial(t *testing.T, p *badnet.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, s string) {
	t.Helper()
	b := make([]byte, len(s))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != s {
		t.Fatalf("got %q, %v; want %q", b, err, s)
	}
}

func TestBytesAndTheirEndPass(t *testing.T) {
	c := dial(t, echo(t))
	s := strings.Repeat("0123456789", 400_000)
	go func() {
		_, _ = io.WriteString(c, s)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	b, err := io.ReadAll(c)
	if err != nil || string(b) != s {
		t.Fatalf("got %d of %d bytes, %v", len(b), len(s), err)
	}
}

// Bytes that the conditions hold back pass when the conditions change.
func TestHeldBytesPassWhenHealed(t *testing.T) {
	for name, bad := range map[string]badnet.Conditions{
		"silent": {Silent: true},
		"deaf":   {Deaf: true},
		"mute":   {Mute: true},
		"late":   {Latency: time.Hour},
		"slow":   {Rate: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := echo(t)
			c := dial(t, p)
			send(t, c, "before")
			expect(t, c, "before")

			p.Set(bad)
			s := strings.Repeat("x", 10000)
			send(t, c, s)
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("got %d bytes, %v; want none", n, err)
			}
			_ = c.SetReadDeadline(time.Time{})
			p.Set(badnet.Conditions{})
			expect(t, c, s)
		})
	}
}

// If one direction of the network is lost, the other one works.
func TestOneDirection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := badnet.New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := dial(t, p)
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, x := range map[string]struct {
		bad      badnet.Conditions
		from, to net.Conn
	}{"deaf": {badnet.Conditions{Deaf: true}, s, c}, "mute": {badnet.Conditions{Mute: true}, c, s}} {
		t.Run(name, func(t *testing.T) {
			p.Set(x.bad)
			send(t, x.to, "lost")
			send(t, x.from, "heard")
			expect(t, x.to, "heard")
			_ = x.from.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if n, err := x.from.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %d bytes, %v; want none", n, err)
			}
			_ = x.from.SetReadDeadline(time.Time{})
			p.Set(badnet.Conditions{})
			expect(t, x.from, "lost")
		})
	}
}

func TestFrozenStaySilent(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	send(t, c, "a")
	expect(t, c, "a")
	p.Freeze()
	p.Set(badnet.Conditions{})
	send(t, c, "b")
	fresh := dial(t, p)
	send(t, fresh, "c")
	expect(t, fresh, "c")
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %d bytes, %v; want none", n, err)
	}
	p.Reset()
	_ = c.SetReadDeadline(time.Time{})
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("it outlived a reset")
	}
}

func TestReset(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	send(t, c, "a")
	expect(t, c, "a")
	p.Reset()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %v; want a reset", err)
	}
	c = dial(t, p)
	send(t, c, "b")
	expect(t, c, "b")
}

func TestRefuse(t *testing.T) {
	p := echo(t)
	p.Set(badnet.Conditions{Refuse: true})
	c, err := net.Dial("tcp", p.Addr())
	if err == nil {
		_, err = c.Read(make([]byte, 1))
		_ = c.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("got %v; want a reset", err)
	}
}

func TestTruncated(t *testing.T) {
	p := echo(t)
	p.Set(badnet.Conditions{CutAfter: 7})
	c := dial(t, p)
	send(t, c, "0123456789")
	b, err := io.ReadAll(c)
	if string(b) != "0123456" || err != nil {
		t.Fatalf("got %q, %v; want the first seven and the end", b, err)
	}
}

func TestCloseEndsSilentConnections(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	send(t, c, "a")
	expect(t, c, "a")
	p.Set(badnet.Conditions{Silent: true})
	send(t, c, "b")
	p.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Fatal("the connection outlived its proxy")
	}
}
