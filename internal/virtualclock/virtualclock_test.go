package virtualclock_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

func (p *process) open(ctx context.Context, path string, body io.Reader) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+path, body)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// get returns the answer to a request.
func (p *process) get(path string) string {
	p.t.Helper()
	return p.post(path, nil)
}

func (p *process) post(path string, body []byte) string {
	p.t.Helper()
	answer, err := p.open(p.t.Context(), path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Close()
	text, err := io.ReadAll(answer)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// time parses a time of the server.
func (p *process) time(text string) time.Time {
	p.t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return time.Unix(0, n)
}

// TestStandsStill: the clock begins at the real time, and moves only by advances, by exactly as much.
func TestStandsStill(t *testing.T) {
	before := time.Now()
	p := start(t)
	began := p.time(p.get("/now"))
	if began.Before(before) || began.After(time.Now()) {
		t.Errorf("the clock begins at %v, the test at %v", began, before)
	}
	before = time.Now()
	if real := p.time(p.get("/real")); real.Before(before) || real.After(time.Now()) {
		t.Errorf("the real time is %v, and between %v and %v here", real, before, time.Now())
	}
	if again := p.time(p.get("/now")); !again.Equal(began) {
		t.Errorf("the clock went from %v to %v by itself", began, again)
	}
	for _, d := range []time.Duration{1, time.Millisecond, 10 * time.Minute, 25 * time.Hour} {
		if got := p.get("/advance?d=" + d.String()); got != d.String() {
			t.Errorf("an advance by %v moved the clock by %v", d, got)
		}
		began = began.Add(d)
		if now := p.time(p.get("/now")); !now.Equal(began) {
			t.Errorf("after an advance by %v the clock has %v, want %v", d, now, began)
		}
	}
}

// TestTimers: an advance fires all timers of its time, each at its moment, and clients get what was sent then.
func TestTimers(t *testing.T) {
	p := start(t)
	began := p.time(p.get("/now"))
	ticks, err := p.open(t.Context(), "/ticks?d=1h", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ticks.Close()
	p.get("/advance?d=24h")
	lines := bufio.NewScanner(ticks)
	for i := range 24 {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if at, want := p.time(lines.Text()), began.Add(time.Duration(i+1)*time.Hour); !at.Equal(want) {
			t.Errorf("tick %d at %v, want %v", i, at, want)
		}
	}
}

// TestBusy: an advance during another one is refused, and the first goes on.
func TestBusy(t *testing.T) {
	p := start(t)
	began := p.time(p.get("/now"))
	// The handler begins the second when half of the first is over.
	if got := p.get("/twice?d=1h"); got != "<nil> true" {
		t.Errorf("the two advances: %s", got)
	}
	if now := p.time(p.get("/now")); now.Sub(began) != time.Hour {
		t.Errorf("the clock moved by %v", now.Sub(began))
	}
}

// TestClientGivesUp: the end of an advance's request stops the clock.
func TestClientGivesUp(t *testing.T) {
	p := start(t)
	began := p.time(p.get("/now"))
	ticks, err := p.open(t.Context(), "/ticks?d=1m", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ticks.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error)
	const long = 1_000_000 * time.Hour // with ticks, days of real time
	go func() {
		_, err := p.open(ctx, "/advance?d="+long.String(), nil)
		ended <- err
	}()
	if lines := bufio.NewScanner(ticks); !lines.Scan() {
		t.Fatal(lines.Err())
	}
	giveUp()
	if err := <-ended; err == nil {
		t.Error("the advance had an answer")
	}
	// The next advance is refused until the server has noticed.
	for p.get("/advance?d=1s") != "1s" {
	}
	stopped := p.time(p.get("/now"))
	if moved := stopped.Sub(began); moved >= long {
		t.Errorf("the clock moved by %v", moved)
	}
	if now := p.time(p.get("/now")); !now.Equal(stopped) {
		t.Errorf("the clock went on from %v to %v", stopped, now)
	}
}

// TestBytes: large bodies go both ways at once while the clock stands still, over several connections.
func TestBytes(t *testing.T) {
	p := start(t)
	began := p.get("/now")
	failed := make(chan error)
	const clients = 4
	for i := range clients {
		body := make([]byte, 3<<20+i)
		rand.NewChaCha8([32]byte{byte(i)}).Read(body)
		go func() {
			answer, err := p.open(t.Context(), "/echo", bytes.NewReader(body))
			if err == nil {
				var got []byte
				got, err = io.ReadAll(answer)
				answer.Close()
				if err == nil && !bytes.Equal(got, body) {
					err = fmt.Errorf("%d bytes came back for %d", len(got), len(body))
				}
			}
			failed <- err
		}()
	}
	for range clients {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if now := p.get("/now"); now != began {
		t.Errorf("the clock went from %s to %s", began, now)
	}
}

// TestSlowClient: a client that takes no bytes does not stop an advance, nor keep others from being served.
func TestSlowClient(t *testing.T) {
	p := start(t)
	slow, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.WriteString(slow, "GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if got := p.get("/advance?d=1h"); got != "1h0m0s" {
		t.Errorf("an advance by an hour: %s", got)
	}
}

// TestNoClient: a process to which no client has connected ends, too.
func TestNoClient(t *testing.T) { start(t) }
