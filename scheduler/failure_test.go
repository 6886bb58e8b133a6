package scheduler

import (
	"strings"
	"testing"
)

// TestTruncateNote: a message longer than an event's note is cut and ends in " ...".
func TestTruncateNote(t *testing.T) {
	short, long := strings.Repeat("a", 1024), strings.Repeat("a", 1025)
	if got := truncateNote(short); got != short {
		t.Errorf("%d bytes became %d", len(short), len(got))
	}
	if got := truncateNote(long); len(got) != 1024 || !strings.HasSuffix(got, "a ...") {
		t.Errorf("%d bytes, ending with %q", len(got), got[1000:])
	}
}
