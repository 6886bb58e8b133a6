package resource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Placeholders for a missing value in a cell.
const (
	None    = "<none>"
	Unset   = "<unset>"
	Unknown = "<unknown>"
)

// DefinitionRevision formats the time since t as kubectl formats ages: "5m", "3d4h".
func Since(t metav1.Time) string { return since(t.Time) }

// SinceMicro is Since for times with microseconds.
func SinceMicro(t metav1.MicroTime) string { return since(t.Time) }

func since(t time.Time) string {
	if t.IsZero() {
		return Unknown
	}
	return duration.HumanDuration(time.Since(t))
}

// AgeOf returns the cell of the Age column.
func AgeOf(obj metav1.Object) string { return Since(obj.GetCreationTimestamp()) }

// Containers returns the cells for the containers of a pod template: their names and their images, separated by
// commas.
func Containers(cs []corev1.Container) (names, images string) {
	n, i := make([]string, len(cs)), make([]string, len(cs))
	for k := range cs {
		n[k], i[k] = cs[k].Name, cs[k].Image
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

// JoinFirstThree joins the first three items and counts the rest: "a,b,c + 2 more...".
func JoinFirstThree(items []string, empty string) string {
	switch {
	case len(items) == 0:
		return empty
	case len(items) > 3:
		return fmt.Sprintf("%s + %d more...", strings.Join(items[:3], ","), len(items)-3)
	}
	return strings.Join(items, ",")
}

// JoinSorted joins the distinct items in order.
func JoinSorted(items []string) string {
	items = slices.Clone(items)
	slices.Sort(items)
	return strings.Join(slices.Compact(items), ",")
}
