package top

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"\x1b[31mred\x1b[0m\r\n":   "red",
		"a\tb":                     "a    b",
		"\x1b]0;title\x07text\x00": "text",
		"bell\a and \u009b31mcsi":  "bell and 31mcsi",
		"日本\x7f":                   "日本",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Wrapped rows fit, have the words of the line, and keep its style.
func TestWrap(t *testing.T) {
	line := "  " + bold.of("next:") + " " + dim.of(strings.Repeat("some words ", 20)+strings.Repeat("x", 90))
	for _, w := range []int{1, 5, 20, 33, 60} {
		var all strings.Builder
		for _, row := range wrap(line, w) {
			if n := width(row); n > w {
				t.Errorf("%d cells on %d: %q", n, w, row)
			}
			all.WriteString(ansi.Strip(row))
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got, want := squeeze(all.String()), squeeze(ansi.Strip(line)); got != want {
			t.Errorf("%d: %q, want %q", w, got, want)
		}
	}
	rows := wrap(dim.of("one two three"), 8)
	if !strings.HasPrefix(strings.TrimLeft(rows[1], " "), string(dim)) {
		t.Errorf("the style ends with the first row: %q", rows)
	}
}

func TestTone(t *testing.T) {
	for _, c := range []struct {
		column, cell string
		want         style
	}{
		{"Status", "Running", green}, {"Status", "CrashLoopBackOff", red}, {"Status", "Pending", yellow}, {"Ready", "1/2", yellow},
		{"Ready", "2/2", plain}, {"Status", "NotReady", red}, {"Status", "Ready,SchedulingDisabled", yellow}, {"Name", "failed", plain}, {"Type", "Warning", red},
	} {
		if got := tone(c.column, c.cell); got != c.want {
			t.Errorf("%s %s: %q", c.column, c.cell, got)
		}
	}
}

func TestRefresher(t *testing.T) {
	at := func(d time.Duration) time.Time { return began.Add(d) }
	var r refresher
	if !r.due(began) {
		t.Error("nothing was asked yet")
	}
	r.ask(1, began)
	if r.due(at(time.Hour)) {
		t.Error("the question is open")
	}
	if r.answered(7, 0) || !r.answered(1, 100*time.Millisecond) {
		t.Error("the answer is that of the last question")
	}
	r.changed = true
	if r.due(at(time.Second)) {
		t.Error("an answer that took 100 ms is not asked for again after a second")
	}
	if !r.due(at(3 * time.Second)) {
		t.Error("a change is not asked for")
	}
	r.changed, r.took = false, 0
	if r.due(at(9*time.Second)) || !r.due(at(10*time.Second)) {
		t.Error("without a change it is asked for after ten seconds")
	}
}

func TestSpark(t *testing.T) {
	if got := spark([]int{9, 0, 1, 4, 8}, 4); got != " ▁▄█" {
		t.Errorf("%q", got)
	}
}

// A stream that is faster than the screen comes in few batches, and waits until one is taken.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		emitted := 0
		msg := feed(ctx, 3, func(ctx context.Context, emit func(int) bool) {
			for emit(emitted) {
				emitted++
			}
		})()
		synctest.Wait()
		first := emitted
		time.Sleep(time.Hour)
		if emitted != first || first > 3*maxBatch {
			t.Errorf("%d items while none was taken, then %d", first, emitted)
		}
		b := msg.(batch[int])
		seen := b.items
		begun := time.Now()
		for range 10 {
			b = b.next().(batch[int])
			seen = append(seen, b.items...)
		}
		if took := time.Since(begun); took < 10*batchPause {
			t.Errorf("ten batches in %v", took)
		}
		for i, n := range seen {
			if i != n {
				t.Fatalf("item %d is %d", i, n)
			}
		}
		if b.id != 3 {
			t.Errorf("stream %d", b.id)
		}
		stop()
		synctest.Wait() // the goroutine ends, or the bubble fails
		for next := b.next(); next != nil; {
			next = next.(batch[int]).next()
		}
	})
}
