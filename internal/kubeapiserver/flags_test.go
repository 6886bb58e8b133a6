package kubeapiserver

import (
	"strings"
	"testing"
)

// TestOtherFlags sets flags without an effect.
func TestOtherFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // part of the error; "" if there is no error
	}{
		{[]string{"--audit-log-path", "/tmp/audit.log", "--profiling", "-v", "4", "--watch-cache=false"}, ""},
		{[]string{"--service-account-lookup", "--storage-backend=etcd3"}, ""},
		{[]string{"--service-account-lookup=false"}, "not supported: want true"},
		{[]string{"--egress-selector-config-file=x.yaml"}, "not supported"},
	} {
		err := Command().ParseFlags(c.args)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.args, err, c.want)
		}
	}
}
