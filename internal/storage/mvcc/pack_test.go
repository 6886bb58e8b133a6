package mvcc

import (
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/storage"
)

func BenchmarkPack(b *testing.B) {
	state := func(n int) []byte {
		return fmt.Appendf(nil, `{"kind":"Pod","n":"%d","text":%q,"time":"%d"}`, n, strings.Repeat("abcdefgh", 450), n)
	}
	p := &Packer{}
	v := NewVersion(storage.KeyValue{Value: state(1), Version: 1}, 0, false)
	next := NewVersion(storage.KeyValue{Value: state(2), Version: 2}, 0, false)
	whole := v.body.Load()
	for b.Loop() {
		v.body.Store(whole)
		p.Pack(v, next)
	}
}
