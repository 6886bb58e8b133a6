package main

import (
	"io"
	"net"
	"testing"
)

// TestOpenPort: a connection that comes between two servers is served by the second one.
func TestOpenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := newOpenPort(l)
	first := port.lease()
	ended := make(chan error, 1)
	go func() {
		_, err := first.Accept()
		ended <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a closed lease accepts a connection")
	}
	client, err := net.Dial("tcp", port.Addr().String())
	if err != nil {
		t.Fatalf("between two servers: %v", err)
	}
	defer client.Close()
	second := port.lease()
	c, err := second.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "here"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if text, err := io.ReadAll(client); err != nil || string(text) != "here" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Accept(); err == nil {
		t.Error("a closed port accepts a connection")
	}
	if c, err := net.Dial("tcp", port.Addr().String()); err == nil {
		c.Close()
		t.Error("a closed port is open")
	}
}
