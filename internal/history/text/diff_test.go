package text_test

import (
	"strings"
	"testing"

	"fairlead.dev/internal/history/text"
)

func configMap(data map[string]any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}
}

func TestDiff(t *testing.T) {
	one := configMap(map[string]any{"a": "1", "b": "2", "c": "3", "d": "4"})
	two := configMap(map[string]any{"a": "1", "b": "2", "c": "3", "d": "5", "e": "6"})
	colors := text.Style{Bold: "<b>", Dim: "<d>", Removed: "<r>", Added: "<a>", End: "</>"}
	for name, c := range map[string]struct {
		from, to text.Side
		style    text.Style
		want     string
	}{
		"changed": {text.Side{"old", one}, text.Side{"new", two}, colors, `
<b>--- old</>
<b>+++ new</>
<d>@@ -3,5 +3,6 @@</>
   a: "1"
   b: "2"
   c: "3"
<r>-  d: "4"</>
<a>+  d: "5"</>
<a>+  e: "6"</>
 kind: ConfigMap
`},
		"created": {text.Side{"absent", nil}, text.Side{"new", configMap(map[string]any{})}, text.Style{}, `
--- absent
+++ new
@@ -0,0 +1,3 @@
+apiVersion: v1
+data: {}
+kind: ConfigMap
`},
		"deleted": {text.Side{"old", configMap(map[string]any{})}, text.Side{"absent", nil}, text.Style{}, `
--- old
+++ absent
@@ -1,3 +0,0 @@
-apiVersion: v1
-data: {}
-kind: ConfigMap
`},
		"equal": {text.Side{"old", one}, text.Side{"new", one}, text.Style{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := text.Diff(&out, c.from, c.to, c.style); err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimPrefix(c.want, "\n"); out.String() != want {
				t.Errorf("got\n%swant\n%s", out.String(), want)
			}
		})
	}
}
