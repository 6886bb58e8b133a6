package resourcetest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// Rows checks the rows of the table for the changed objects: the cells as text, with two spaces between. The time is
// 2000-01-01T00:00:00Z.
func (k *Kind) Rows(t *testing.T, cases []Case) {
	each(t, "row", cases, func(t *testing.T, c Case) {
		obj := k.object(t, c.change(), true)
		synctest.Test(t, func(t *testing.T) {
			var cells []string
			for _, cell := range k.row.Row(obj) {
				cells = append(cells, fmt.Sprint(cell))
			}
			if got, want := strings.Join(cells, "  "), strings.Join(c.want(), "\n"); got != want {
				t.Errorf("row\n\t%s\nwant\n\t%s", got, want)
			}
		})
	})
}
