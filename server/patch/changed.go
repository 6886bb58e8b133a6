package patch

import "bytes"

// Changed compares two texts of an object member by member. It returns the names
// of the members that the second has not, or not as the first, and the text of
// an object of those that are changed in it. Both must be valid JSON. What is
// written differently counts as changed, even if it means the same.
func Changed(was, is []byte) (names []string, text []byte) {
	before := members(was)
	text = append(text, '{')
	for _, m := range members(is) {
		at := -1
		for k := range before {
			if before[k].name == m.name {
				at = k
			}
		}
		if at >= 0 {
			same := bytes.Equal(before[at].value, m.value)
			before[at] = before[len(before)-1]
			before = before[:len(before)-1]
			if same {
				continue
			}
		}
		names = append(names, m.name)
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, m.quote...), ':'), m.value...)
	}
	for _, gone := range before {
		names = append(names, gone.name)
	}
	return names, append(text, '}')
}
