package corpus_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// printStatus formats a Status: reason and message, details, causes.
func (r *run) printStatus(body []byte) string {
	var s metav1.Status
	if err := json.Unmarshal(body, &s); err != nil {
		r.t.Fatal(err)
	}
	if s.Status != metav1.StatusFailure {
		return " " + s.Status + details(s.Details)
	}
	out := fmt.Sprintf(" %s: %s", s.Reason, firstLine(shorter(&s)))
	if s.Details == nil {
		return out + "\nno details"
	}
	out += details(s.Details)
	var causes []string
	for _, c := range s.Details.Causes {
		causes = append(causes, fmt.Sprintf("\n  %s %s: %s", c.Type, c.Field, firstLine(c.Message)))
	}
	slices.Sort(causes)
	return out + strings.Join(slices.Compact(causes), "")
}

// shorter returns the message without the part that lists the causes.
func shorter(s *metav1.Status) string {
	if s.Details == nil || len(s.Details.Causes) == 0 {
		return s.Message
	}
	var all []string
	for _, c := range s.Details.Causes {
		all = append(all, c.Field+": "+c.Message)
	}
	distinct := all[:0:0]
	for _, c := range all {
		if !slices.Contains(distinct, c) {
			distinct = append(distinct, c)
		}
	}
	end := strings.Join(distinct, ", ")
	if len(distinct) > 1 {
		end = "[" + end + "]"
	}
	return strings.TrimSuffix(s.Message, ": "+end)
}

// firstLine removes the Go values quoted in some messages.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// details formats the details of a Status.
func details(d *metav1.StatusDetails) string {
	if d == nil {
		return ""
	}
	about := *d
	about.Causes = nil
	return "\nabout " + text(about)
}
