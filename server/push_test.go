package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestLargeEventIsPushed checks that an event that fills the write buffer reaches the client when
// it happens, not with the next one.
func TestLargeEventIsPushed(t *testing.T) {
	allWires(t, func(t *testing.T, c *cluster, rt http.RoundTripper) {
		w := c.watch(t, rt, maps+"?watch=1&resourceVersion=1")
		for i, kb := range []int{20, 17, 33, 100} {
			name := fmt.Sprint("large-", i)
			c.must("POST "+maps, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+name+`"},"data":{"k":"`+strings.Repeat("x", kb<<10)+`"}}`)
			w.expect(fmt.Sprint("ADDED ", name, " ", i+2))
		}
	})
}
