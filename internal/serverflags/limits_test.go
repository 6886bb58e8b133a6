package serverflags

import (
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  controlplane.Limits
		fault string
	}{
		{want: controlplane.Limits{MaxReads: 400, MaxWrites: 200}},
		{flags: []string{"--enable-priority-and-fairness=false"}, want: controlplane.Limits{MaxReads: 400, MaxWrites: 200, NoFairness: true}},
		{flags: []string{"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0"},
			want: controlplane.Limits{MaxReads: -1, MaxWrites: -1, NoFairness: true}},
		{flags: []string{"--max-requests-inflight=0"}, want: controlplane.Limits{MaxReads: -1, MaxWrites: 200}},
		{flags: []string{"--max-requests-inflight=0", "--max-mutating-requests-inflight=0"}, fault: "--enable-priority-and-fairness=false"},
		{flags: []string{"--max-requests-inflight=-1"}, fault: "want 0 or more"},
	} {
		set, f, got := pflag.NewFlagSet("", pflag.ContinueOnError), limits{}, controlplane.Limits{}
		f.register(set)
		if err := set.Parse(c.flags); err != nil {
			t.Fatal(err)
		}
		err := f.complete(&got)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v: %v", c.flags, err)
			}
			continue
		}
		c.want.RequestTimeout = got.RequestTimeout
		if err != nil || got != c.want {
			t.Errorf("%v: %v %+v", c.flags, err, got)
		}
	}
}
