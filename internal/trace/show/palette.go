package show

import (
	"fmt"
	"time"
)

// Palette has the terminal's escape sequences for parts of the text. The zero value writes
// plain text.
type Palette struct{ Bold, Dim, Late, End string }

// Color is for terminals.
var Color = Palette{Bold: "\x1b[1m", Dim: "\x1b[2m", Late: "\x1b[33m", End: "\x1b[0m"}

func (p Palette) bold(s string) string { return p.Bold + s + p.End }
func (p Palette) dim(s string) string  { return p.Dim + s + p.End }
func (p Palette) late(s string) string { return p.Late + s + p.End }

// span formats a duration with three significant digits.
func span(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case d < 0:
		return "-" + span(-d)
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
