package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"fairlead.dev/server"
	"fairlead.dev/server/auth"
	"fairlead.dev/trace"
)

// BenchmarkTrace is what stamps cost. Two servers, one that keeps lives and one that does
// not, take turns in one process, so that what else the machine does falls on both; the
// metrics are the CPU time of each, client included, and by how many percent the one is above
// the other. An op is a turn of both.
func BenchmarkTrace(b *testing.B) {
	for _, load := range []struct {
		name  string
		each  int // what a turn counts for
		begin func(b *testing.B, rt http.RoundTripper, base string) (turn func())
	}{
		{"create", turnWrites, creates},
		{"fanout", turnWrites * crowd, deliveries},
	} {
		for _, wire := range []string{"memory", "https"} {
			b.Run(load.name+"/"+wire, func(b *testing.B) {
				var turns [2]func()
				for on := range turns {
					c := start(b, func(cfg *server.Config) {
						if on == 1 {
							cfg.Trace = trace.New(trace.Options{})
						}
					})
					rt, base := server.Transport(c.server, &auth.User{Name: "bench"}), "http://memory"
					if wire == "https" {
						rt, base = c.client.Transport, c.http.URL
					}
					turns[on] = load.begin(b, rt, base)
					turns[on]() // rings grow, connections begin
				}
				var cost [2]int64
				for n := 0; b.Loop(); n++ {
					for i := range turns {
						on := (i + n) % 2
						before := cpuTime()
						turns[on]()
						cost[on] += cpuTime() - before
					}
				}
				per := func(on int) float64 { return float64(cost[on]) / float64(b.N*load.each) / 1000 }
				b.ReportMetric(per(0), "us-cpu-off")
				b.ReportMetric(per(1), "us-cpu-on")
				b.ReportMetric(100*(per(1)/per(0)-1), "%more")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

const turnWrites, crowd = 50, 200

func creates(b *testing.B, rt http.RoundTripper, base string) func() {
	n := 0
	return func() {
		for range turnWrites {
			n++
			send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", n)))
		}
	}
}

// deliveries has a crowd of watchers; a turn ends when all have got all of it.
func deliveries(b *testing.B, rt http.RoundTripper, base string) func() {
	send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody("web"))
	ctx, stop := context.WithCancel(context.Background())
	b.Cleanup(stop)
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
	}
}
