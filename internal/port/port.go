// Package port finds addresses for servers of tests that are stopped and started again
// in the same place.
//
// A port that the kernel chose ("127.0.0.1:0") is one of those that it also gives to
// outgoing connections. While its server is down anybody's connection may get it, even
// the one that is looking for that server, and then the server cannot come back. The
// ports of this package lie below those.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Free returns n different host:port of the loopback interface that nobody listens at.
func Free(n int) (addresses []string, err error) {
	first, last := 10000, ephemeral()
	for range 1000 {
		if len(addresses) == n {
			return addresses, nil
		}
		l, e := net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+rand.IntN(last-first)))
		if e != nil {
			err = e
			continue
		}
		defer l.Close() // not before all are found: they are to differ
		addresses = append(addresses, l.Addr().String())
	}
	return nil, fmt.Errorf("no free ports between %d and %d: %w", first, last, err)
}

// ephemeral is the first port that the kernel gives to outgoing connections.
func ephemeral() int {
	var first int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &first)
	}
	if err != nil || first < 12000 {
		return 32768 // Linux's own; others begin higher
	}
	return first
}
