package top

import (
	"regexp"
	"strings"
)

var (
	stateColumn = regexp.MustCompile(`(?i)^(status|phase|state|available|ready|type|reason|condition)$`)
	portion     = regexp.MustCompile(`^(\d+)/(\d+)$`)
	wellWord    = regexp.MustCompile(`(?i)^(running|ready|bound|active|available|true|completed?|succeeded|approved(,issued)?|healthy|established|deployed|normal)$`)
	busyWord    = regexp.MustCompile(`(?i)^(pending|containercreating|podinitializing|terminating|init:\d+/\d+|released|schedulinggated|suspended|unknown|progressing|.*schedulingdisabled)$`)
	illWord     = regexp.MustCompile(`(?i)(error|backoff|failed|evicted|oomkilled|lost|denied|invalid|errimage|deadlineexceeded|notready|^warning$|^false$)`)
)

// tone is the style of a cell in a column of states: green for a desired state, yellow for one that should pass, red for a
// problem; plain for other cells.
func tone(column, cell string) style {
	if !stateColumn.MatchString(column) {
		return plain
	}
	if part := portion.FindStringSubmatch(cell); part != nil {
		if part[1] == part[2] {
			return plain
		}
		return yellow
	}
	switch {
	case illWord.MatchString(cell):
		return red
	case busyWord.MatchString(cell):
		return yellow
	case wellWord.MatchString(cell):
		return green
	}
	return plain
}

func repeat(s string, n int) string { return strings.Repeat(s, max(0, n)) }
