package shell

import (
	"strings"
	"time"
)

// maxLines is how many lines of a loop's output Written returns, about.
const maxLines = 10_000

// Written returns the output of a container some time after its start. omitted is the number of earlier lines that
// are left out because a loop has written so many.
func (p *Prediction) Written(after time.Duration) (outputs []Output, omitted int) {
	latest, rounds := p.Loop.written(after)
	outputs = p.Output
	if rounds > 0 {
		omitted = lineEnds(outputs) + rounds*lineEnds(p.Loop.Output)
		outputs = nil
	}
	outputs = append(outputs[:len(outputs):len(outputs)], latest...)
	for i, o := range outputs {
		if o.After > after {
			return outputs[:i], omitted
		}
	}
	return outputs, omitted
}

// written returns the latest outputs of a loop, and the number of rounds before them.
func (l *Loop) written(after time.Duration) (latest []Output, omitted int) {
	if l == nil || after < l.From || len(l.Output) == 0 {
		return nil, 0
	}
	rounds := int((after-l.From)/l.Every) + 1
	first := max(0, rounds-maxLines/len(l.Output)-1)
	for round := first; round < rounds; round++ {
		for _, o := range l.Output {
			if o.After += time.Duration(round) * l.Every; o.After <= after {
				latest = append(latest, o)
			}
		}
	}
	return latest, first
}

func lineEnds(outputs []Output) (n int) {
	for _, o := range outputs {
		n += strings.Count(o.Text, "\n")
	}
	return n
}
