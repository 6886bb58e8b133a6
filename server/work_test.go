package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/cputime"
)

// cpu is the processor time that f takes of this process.
func cpu(f func()) time.Duration {
	began := cputime.Used()
	f()
	return cputime.Used() - began
}

// TestWorkIsLinear checks that eight times as many owners, finalizers or keys take no more than
// some eight times as long, in any form.
func TestWorkIsLinear(t *testing.T) {
	c := start(t)
	const path = "/api/v1/namespaces/default/configmaps"
	for name, x := range map[string]struct {
		item func(i int) string
		of   string
	}{
		"owners": {func(i int) string {
			return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"%d"}`, i*7919%1000003)
		}, `"metadata":{"name":"%[1]s","ownerReferences":[%[2]s]}`},
		"finalizers": {func(i int) string { return fmt.Sprintf(`"a.io/%d"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s","finalizers":[%[2]s]}`},
		"labels":     {func(i int) string { return fmt.Sprintf(`"l%d":"x"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s","labels":{%[2]s}}`},
		"keys":       {func(i int) string { return fmt.Sprintf(`"k%d":"x"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s"},"data":{%[2]s}`},
	} {
		text := func(as string, n int) string {
			list := make([]string, n)
			for i := range list {
				list[i] = x.item(i)
			}
			return `{"apiVersion":"v1","kind":"ConfigMap",` + fmt.Sprintf(x.of, as, strings.Join(list, ",")) + `}`
		}
		for verb, do := range map[string]func(as string, n int){
			"create":  func(as string, n int) { c.must("POST "+path+"?dryRun=All", text("dry", n)) },
			"replace": func(as string, n int) { c.must("PUT "+path+"/"+as, text(as, n+1)) },
			"merge":   func(as string, n int) { c.must("PATCH "+path+"/"+as+" application/merge-patch+json", text(as, n+2)) },
			"apply": func(as string, n int) {
				c.must("PATCH "+path+"/"+as+"?fieldManager=test&force=true application/apply-patch+yaml", text(as, n))
				c.must("PATCH "+path+"/"+as+"?fieldManager=test&force=true application/apply-patch+yaml", text(as, n-1))
			},
		} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				took := func(n int) time.Duration {
					as := fmt.Sprintf("%s-%s-%d", name, verb, n)
					c.must("POST "+path, text(as, n))
					return cpu(func() { do(as, n) })
				}
				took(100)
				few, many := took(1500), took(12000)
				t.Logf("1500: %v, 12000: %v", few, many)
				if many > 24*few+200*time.Millisecond {
					t.Errorf("1500 took %v, 12000 took %v", few, many)
				}
			})
		}
	}
}

// TestLongNumbers checks that a quantity that would take seconds to parse is refused in every
// form, and that a text of digits in a field of another type is not.
func TestLongNumbers(t *testing.T) {
	c := start(t, withCBOR)
	digits := strings.Repeat("9", 1_000_000)
	const quotas = "/api/v1/namespaces/default/resourcequotas"
	json := func(n string) string { return `{"metadata":{"name":"q"},"spec":{"hard":{"cpu":"` + n + `"}}}` }
	c.must("POST "+quotas, json("1"))
	took := cpu(func() {
		for head, body := range map[string]string{
			"POST " + quotas:                                                       json(digits),
			"POST " + quotas + " application/yaml":                                 "metadata: {name: q}\nspec: {hard: {cpu: '" + digits + "'}}",
			"PUT " + quotas + "/q":                                                 json(digits),
			"PATCH " + quotas + "/q application/merge-patch+json":                  json(digits),
			"PATCH " + quotas + "/q application/strategic-merge-patch+json":        json(digits),
			"PATCH " + quotas + "/q application/json-patch+json":                   `[{"op":"replace","path":"/spec/hard/cpu","value":"` + digits + `"}]`,
			"PATCH " + quotas + "/q?fieldManager=x application/apply-patch+yaml":   `{"apiVersion":"v1","kind":"ResourceQuota",` + json(digits)[1:],
			"PATCH " + quotas + "/new?fieldManager=x application/apply-patch+yaml": `{"apiVersion":"v1","kind":"ResourceQuota",` + strings.Replace(json(digits), `"q"`, `"new"`, 1)[1:],
		} {
			if a := c.do(head, body); a.code != 400 && a.code != 422 || !strings.Contains(a.body, "a number in it has more than 20000 digits") {
				t.Errorf("%s: %d %.300s", head, a.code, a.body)
			}
		}
	})
	if took > 30*time.Second { // parsing a million digits takes 10 s, and more with the race detector
		t.Errorf("the refusals took %v of the processor", took)
	}
	c.must("POST /api/v1/namespaces/default/configmaps", `{"metadata":{"name":"d"},"data":{"a":"`+digits+`"}}`)
}

// TestLongTokens checks that a continue token longer than any of the server's is refused
// before it is decoded.
func TestLongTokens(t *testing.T) {
	c := start(t)
	if a := c.do("GET /api/v1/namespaces?limit=1&continue="+strings.Repeat("A", 500<<10), ""); a.code != 400 || !strings.Contains(a.body, "it has more than 65536 bytes") {
		t.Errorf("%d %s", a.code, a.body)
	}
}
