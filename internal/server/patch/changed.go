package patch

import (
	"bytes"

	"fairlead.dev/internal/codec/jsonscan"
)

// Changed compares two texts of an object member by member. It returns the names of the members that the second
// lacks or has with another value, and the text of an object with the second's values of these. Both texts must be
// valid JSON. Members are compared as text, so another spelling of an equal value counts as a change.
func Changed(was, is []byte) (names []string, text []byte) {
	var space [32]jsonscan.Member
	before := members(space[:0:16], was)
	at := namesOf(before)
	text = append(text, '{')
	for _, m := range members(space[16:16:32], is) {
		if at := at.find(m); at >= 0 {
			same := bytes.Equal(before[at].Value, m.Value)
			before[at].Value = nil
			if same {
				continue
			}
		}
		names = append(names, m.Name())
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, m.Quote...), ':'), m.Value...)
	}
	for _, m := range before {
		if m.Value != nil { // the member was removed
			names = append(names, m.Name())
		}
	}
	return names, append(text, '}')
}
