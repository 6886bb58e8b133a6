package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"

	"fairlead.dev/internal/cputime"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/trace"
)

// BenchmarkTrace measures the cost of the stamps. An op is a round of three new servers in one
// process: two without a trace, and between them one with it. They take turns in a rotating
// order, so that other load on the machine falls on all. The benchmark reports the CPU time of
// each, client included; the excess in percent of the server with a trace over the mean of the
// others; and the excess of the first server without a trace over the second, which is the error
// of the former. Both are medians of the rounds.
func BenchmarkTrace(b *testing.B) {
	for _, load := range []struct {
		name  string
		each  int // the ops of one turn
		turns int // of a server in a round: a multiple of three
		begin func(b *testing.B, rt http.RoundTripper, base string) (turn, end func())
	}{
		{"create", turnWrites, 42, creates},
		{"fanout", turnWrites * crowd, 6, deliveries},
	} {
		for _, wire := range []string{"memory", "https"} {
			b.Run(load.name+"/"+wire, func(b *testing.B) {
				var sum [3]float64
				var more, noise []float64
				for b.Loop() {
					cost := traceRound(b, wire, load.turns, load.begin)
					for i := range cost {
						sum[i] += cost[i]
					}
					more = append(more, 100*(2*cost[1]/(cost[0]+cost[2])-1))
					noise = append(noise, 100*(cost[2]/cost[0]-1))
				}
				per := func(i int) float64 { return sum[i] / float64(b.N*load.turns*load.each) / 1000 }
				b.ReportMetric(per(0), "us-cpu-off")
				b.ReportMetric(per(1), "us-cpu-on")
				b.ReportMetric(median(more), "%more")
				b.ReportMetric(median(noise), "%more-of-none")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// traceRound lets three servers take turns, the middle one with stamps, and returns the CPU time
// of each in nanoseconds.
func traceRound(b *testing.B, wire string, turns int, begin func(*testing.B, http.RoundTripper, string) (turn, end func())) (cost [3]float64) {
	all := &scope{TB: b}
	defer all.end()
	var turn [3]func()
	for i := range turn {
		c := start(all, func(cfg *server.Config) {
			if i == 1 {
				cfg.Trace = trace.New(trace.Options{})
			}
		})
		rt, base := server.Transport(c.server, &auth.User{Name: "bench"}), "http://memory"
		if wire == "https" {
			rt, base = c.client.Transport, c.http.URL
		}
		var end func()
		turn[i], end = begin(b, rt, base)
		all.Cleanup(end)
		turn[i]() // fills rings and opens connections
	}
	runtime.GC()
	for n := range turns {
		for i := range turn {
			i = (i + n) % len(turn)
			before := cputime.Used()
			turn[i]()
			cost[i] += float64(cputime.Used() - before)
		}
	}
	return cost
}

// scope is a part of a benchmark that cleans up at its own end.
type scope struct {
	testing.TB
	ends []func()
}

func (s *scope) Cleanup(f func()) { s.ends = append(s.ends, f) }

func (s *scope) end() {
	for _, f := range slices.Backward(s.ends) {
		f()
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

const turnWrites, crowd = 50, 200

func creates(b *testing.B, rt http.RoundTripper, base string) (turn, end func()) {
	n := 0
	return func() {
		for range turnWrites {
			n++
			send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", n)))
		}
	}, func() {}
}

// deliveries opens a crowd of watchers; a turn ends when all have received every event.
func deliveries(b *testing.B, rt http.RoundTripper, base string) (turn, end func()) {
	send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody("web"))
	ctx, stop := context.WithCancel(context.Background())
	var got sync.WaitGroup
	for range crowd {
		req, _ := http.NewRequestWithContext(ctx, "GET", base+"/api/v1/pods?watch=1&resourceVersion=2", nil)
		resp, err := rt.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			defer resp.Body.Close()
			for lines := bufio.NewReaderSize(resp.Body, 64<<10); ; got.Done() {
				if _, err := lines.ReadSlice('\n'); err != nil {
					return
				}
			}
		}()
	}
	n := 0
	return func() {
		got.Add(turnWrites * crowd)
		for range turnWrites {
			n++
			patchWeb(b, rt, base, n)
		}
		got.Wait()
	}, stop
}
