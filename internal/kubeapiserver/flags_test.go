package kubeapiserver

import (
	"os"
	"strings"
	"testing"
)

// TestFlags looks for each flag of kube-apiserver 1.36.3; testdata/flags.txt has the names that its --help prints.
func TestFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	cmd := Command()
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for name := range strings.FieldsSeq(string(text)) {
		if cmd.Flags().Lookup(name) == nil {
			t.Errorf("no flag --%s", name)
		}
	}
}

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
