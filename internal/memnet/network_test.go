package memnet_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"fairlead.dev/internal/memnet"
)

func TestNetwork(t *testing.T) {
	var n memnet.Network
	l, err := n.Listen("127.0.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Listen("127.0.0.1:6443"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a taken address: %v", err)
	}
	if _, err := n.Listen("6443"); err == nil {
		t.Error("an address without a host was taken")
	}
	free, err := n.Listen("127.0.0.1:0")
	if err != nil || free.Addr().(*net.TCPAddr).Port == 0 {
		t.Errorf("a free port: %v, %v", free.Addr(), err)
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, c.LocalAddr().String())
		c.Close()
	}()
	c, err := n.Dial(t.Context(), "tcp", "localhost:6443")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); string(got) != "127.0.0.1:6443" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if c.RemoteAddr().String() != "127.0.0.1:6443" || c.LocalAddr().(*net.TCPAddr).Port == 0 {
		t.Errorf("%v to %v", c.LocalAddr(), c.RemoteAddr())
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
	if _, err := n.Dial(t.Context(), "tcp", "127.0.0.1:6443"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial after Close: %v", err)
	}
	if _, err := n.Dial(t.Context(), "tcp", "example.com:443"); err == nil {
		t.Error("a name was resolved")
	}
	if l, err = n.Listen("127.0.0.1:6443"); err != nil {
		t.Errorf("the address after Close: %v", err)
	}
}
