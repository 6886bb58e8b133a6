package top

// cursor is the chosen line of a list, and the first visible one.
type cursor struct{ at, top int }

// move moves by a key in a list of n lines of which h are visible. It reports whether the key moves.
func (c *cursor) move(key string, n, h int) bool {
	page := max(1, h-1)
	switch key {
	case "up", "k":
		c.at--
	case "down", "j":
		c.at++
	case "pgup", "ctrl+b":
		c.at -= page
	case "pgdown", "ctrl+f", "space":
		c.at += page
	case "home", "g":
		c.at = 0
	case "end", "G":
		c.at = n - 1
	default:
		return false
	}
	c.keep(n, h)
	return true
}

// keep keeps the chosen line in the list, and visible.
func (c *cursor) keep(n, h int) {
	c.at = max(0, min(c.at, n-1))
	c.top = max(0, min(c.top, c.at, n-h))
	c.top = max(c.top, c.at-h+1)
}

// visible returns the bounds of the visible lines.
func (c *cursor) visible(n, h int) (from, to int) { return c.top, min(n, c.top+h) }
