package configfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"fairlead.dev/internal/configfile"
)

type values struct {
	name           string
	nodes          int
	quick, slow    bool
	modes, issuers []string
	curves         []int32
	apis, claims   map[string]string
	certificates   []cliflag.NamedCertKey
}

func flags() (*pflag.FlagSet, *values) {
	v, set := &values{}, pflag.NewFlagSet("up", pflag.ContinueOnError)
	set.StringVar(&v.name, "name", "none", "a name")
	set.IntVar(&v.nodes, "nodes", 3, "nodes")
	set.BoolVar(&v.quick, "quick", false, "quick")
	set.BoolVar(&v.slow, "slow-start", true, "slow")
	set.StringSliceVar(&v.modes, "modes", []string{"x"}, "modes")
	set.StringArrayVar(&v.issuers, "issuers", nil, "issuers")
	set.Int32SliceVar(&v.curves, "curves", nil, "curves")
	set.StringToStringVar(&v.apis, "apis", nil, "APIs")
	set.Var(cliflag.NewMapStringStringNoSplit(&v.claims), "claims", "claims")
	set.Var(cliflag.NewNamedCertKeyArray(&v.certificates), "certificates", "certificates")
	return set, v
}

const header = "apiVersion: config.fairlead.dev/v1alpha1\nkind: ControlPlane\n"

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fairlead.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const all = header + `name: "007"
nodes: 12
quick: true
modes: [a, "b,c"]
issuers: ["https://a,b", c]
curves: [29, 23]
apis: {batch/v1: false, "policy/v1": "a,b"}
claims: {tier: "gold,silver", site: x}
certificates: ["a.crt,a.key:*.a.example.com,b", "c.crt,c.key"]
`

// TestRead: each type of flags gets its value, and a flag of the command line keeps its own.
func TestRead(t *testing.T) {
	set, v := flags()
	if err := set.Parse([]string{"--nodes=5"}); err != nil {
		t.Fatal(err)
	}
	if err := configfile.Read(write(t, all), set); err != nil {
		t.Fatal(err)
	}
	switch {
	case v.name != "007", v.nodes != 5, !v.quick, !v.slow, strings.Join(v.modes, ";") != "a;b,c", strings.Join(v.issuers, ";") != "https://a,b;c",
		len(v.curves) != 2 || v.curves[1] != 23, v.apis["batch/v1"] != "false" || v.apis["policy/v1"] != "a,b",
		v.claims["tier"] != "gold,silver" || v.claims["site"] != "x", len(v.certificates) != 2 || len(v.certificates[0].Names) != 2:
		t.Errorf("%+v", v)
	}
	if set.Changed("slow-start") || !set.Changed("issuers") {
		t.Error("the wrong flags are set")
	}
}

// TestWrite: reading what is written sets the same flags to the same values.
func TestWrite(t *testing.T) {
	set, _ := flags()
	if err := configfile.Read(write(t, all), set); err != nil {
		t.Fatal(err)
	}
	for title, to := range map[string]func(*bytes.Buffer, *pflag.FlagSet) error{
		"YAML": func(b *bytes.Buffer, s *pflag.FlagSet) error { return configfile.WriteYAML(b, s, "quick") },
		"JSON": func(b *bytes.Buffer, s *pflag.FlagSet) error { return configfile.WriteJSON(b, s, "quick") },
	} {
		var first, second bytes.Buffer
		if err := to(&first, set); err != nil {
			t.Fatal(err)
		}
		again, v := flags()
		if err := configfile.Read(write(t, first.String()), again); err != nil {
			t.Fatalf("%s: %v in %s", title, err, first.String())
		}
		if err := to(&second, again); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() || v.nodes != 12 || v.quick {
			t.Errorf("%s: %s\nread and written again: %s", title, first.String(), second.String())
		}
		if title == "YAML" && (!strings.Contains(first.String(), "\n# slow\n#slow-start: true\n") || !strings.Contains(first.String(), "\n# nodes\nnodes: 12\n")) {
			t.Errorf("a default is not a comment: %s", first.String())
		}
	}
}

// TestErrors: a file that is not a valid one is refused with the file and the field.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nodes: 3\n", "apiVersion: want config.fairlead.dev/v1alpha1"},
		{"apiVersion: config.fairlead.dev/v1alpha1\nkind: Pod\n", "kind: want ControlPlane"},
		{"- a\n", "want a map of fields"},
		{header + "nodes: 1\nnodes: 2\n", "already set in map"},
		{header + "node: 1\n", `unknown field "node"`},
		{header + "slowStart: true\n", `unknown field "slowStart"; is it slow-start?`},
		{header + "nodes: many\n", `nodes: "many"`},
		{header + "nodes: [1]\n", "nodes: a list: want a int"},
		{header + "nodes: {a: b}\n", "nodes: a map: want a int"},
		{header + "modes: [[a]]\n", "modes: [0]: want a string, a number or a boolean"},
		{header + "quick: 7\n", "quick: \"7\""},
		{header + "help: true\n", "help: only a flag on the command line"},
	} {
		set, _ := flags()
		path := write(t, c.text)
		if err := configfile.Read(path, set, "help"); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	set, _ := flags()
	if err := configfile.Read(filepath.Join(t.TempDir(), "absent"), set); err == nil {
		t.Error("a file that is absent")
	}
}
