package serverflags

import (
	"fmt"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// The values of --http2.
const (
	ownHTTP2      = "fairlead"
	standardHTTP2 = "net/http"
)

// http2 says whose code serves HTTP/2. kube-apiserver has no such flag.
type http2 struct{ by string }

func (f *http2) register(set *pflag.FlagSet) {
	set.StringVar(&f.by, "http2", ownHTTP2, "code that serves HTTP/2: fairlead, which needs little for a watch, or net/http, Go's standard library")
}

func (f *http2) complete(o *controlplane.HTTP) error {
	switch f.by {
	case ownHTTP2, standardHTTP2:
		o.StandardHTTP2 = f.by == standardHTTP2
		return nil
	}
	return fmt.Errorf("--http2=%s: want %s or %s", f.by, ownHTTP2, standardHTTP2)
}
