package versionskew_test

import (
	"strings"
	"testing"

	"fairlead.dev/internal/versionskew"
)

func TestCheckKubelet(t *testing.T) {
	for _, c := range []struct{ kubelet, server, want string }{
		{"v1.37.2", "v1.37.2", ""},
		{"v1.37.9", "v1.37.2", ""},
		{"v1.34.0", "v1.37.2", ""},
		{"v1.34.0-eks-1a2b3c", "v1.37.2", ""},
		{"v1.38.0-alpha.1", "v1.37.2", "newer than the server's, v1.37.2"},
		{"v2.0.0", "v1.37.2", "newer"},
		{"v1.33.12", "v1.37.2", "too old for the server's, v1.37.2: it may be 3 minor versions older"},
		{"", "v1.37.2", "the version of the kubelet"},
		{"v1.37.2", "devel", "the version of the server"},
	} {
		err := versionskew.CheckKubelet(c.kubelet, c.server)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("kubelet %q, server %q: %v, want %q", c.kubelet, c.server, err, c.want)
		}
	}
}
