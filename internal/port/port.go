// Package port finds addresses for servers of tests that are stopped and started again at the same address.
//
// A port that the kernel chose ("127.0.0.1:0") belongs to the range that it also uses for outgoing connections.
// While the server is down, any connection may get the port, even one that tries to reach that server, and the
// server cannot start again. The ports of this package are below that range.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Free returns n different free host:port of the loopback interface.
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
		defer l.Close() // only after all are found: they must differ
		addresses = append(addresses, l.Addr().String())
	}
	return nil, fmt.Errorf("no free ports between %d and %d: %w", first, last, err)
}

// ephemeral returns the first port that the kernel uses for outgoing connections.
func ephemeral() int {
	var first int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &first)
	}
	if err != nil || first < 12000 {
		return 32768 // Linux's default; other systems use a higher one
	}
	return first
}
