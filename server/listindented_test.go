package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestListIndented: an indented list, which is sent piece by piece, is the indented text of the whole list, in each shape; YAML is
// that of the whole list, too.
func TestListIndented(t *testing.T) {
	const table, partial = "Accept: application/json;as=Table;g=meta.k8s.io;v=v1", "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	c := start(t)
	compare := func(objects int) {
		t.Helper()
		whole, err := yaml.JSONToYAML([]byte(c.must("GET "+maps, "").body))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.must("GET "+maps, "", "Accept: application/yaml"); got.body != string(whole) {
			t.Errorf("%d objects as YAML:\n%.2000s\nwant\n%.2000s", objects, got.body, whole)
		}
		for _, accept := range []string{"Accept: application/json", table, partial} {
			for _, query := range []string{"?x=", "?limit=1"} {
				plain := c.must("GET "+maps+query, "", accept)
				var want bytes.Buffer
				if err := json.Indent(&want, []byte(strings.TrimSpace(plain.body)), "", "  "); err != nil {
					t.Fatal(err)
				}
				if got := c.must("GET "+maps+query+"&pretty=1", "", accept); got.body != want.String() {
					t.Errorf("%d objects, %s, %s:\n%.2000s\nwant\n%.2000s", objects, query, accept, got.body, want.String())
				}
			}
		}
	}
	compare(0)
	for i := range 3 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"k":"%s"}}`, i, strings.Repeat("<é\\n\\\"", 9000)))
		compare(i + 1)
	}
}
