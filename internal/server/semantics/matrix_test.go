package semantics_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// matrix sends a request with every combination of the parameter values in the block's lines, "-" for an absent one, and
// prints a line for each.
func (r *run) matrix(b *block, path string, client *http.Client) string {
	queries := []string{""}
	for _, line := range b.rest {
		name, values, _ := strings.Cut(line, "=")
		var longer []string
		for _, q := range queries {
			for v := range strings.SplitSeq(values, ",") {
				if v == "-" {
					longer = append(longer, q)
				} else {
					longer = append(longer, q+"&"+name+"="+v)
				}
			}
		}
		queries = longer
	}
	type answer struct {
		code int
		body []byte
	}
	answers := make([]answer, len(queries))
	var wg sync.WaitGroup
	turn := make(chan struct{}, 64)
	for i, q := range queries {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			q = r.expand(q)
			at := path + "?" + strings.TrimPrefix(q, "&")
			if strings.Contains(path, "?") {
				at = path + q
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			resp, err := client.Do(r.build(ctx, "GET", at, nil, ""))
			if err != nil {
				r.t.Errorf("%s: %v", at, err)
				return
			}
			defer resp.Body.Close()
			data, err := io.ReadAll(resp.Body)
			if err != nil {
				r.t.Errorf("%s: %v", at, err)
			}
			answers[i] = answer{resp.StatusCode, data}
		})
	}
	wg.Wait()
	var out strings.Builder
	for i, a := range answers {
		q := strings.TrimPrefix(queries[i], "&")
		fmt.Fprintf(&out, "%s: %d%s\n", q, a.code, r.names.plain(r.gist(a.body, certain("?"+q))))
	}
	return out.String()
}

// gist summarizes a response: the names in a list and its continuation, the events of a watch up to its end, or the
// error.
func (r *run) gist(body []byte, certain bool) (out string) {
	lines := bufio.NewScanner(strings.NewReader(string(body)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		v, ok := r.decode("", lines.Bytes())
		if !ok {
			return out + " " + lines.Text()
		}
		kind, _ := v["type"].(string)
		o, isEvent := v["object"].(tree)
		if !isEvent {
			return out + r.gistOf(v, certain)
		}
		m, _ := o["metadata"].(tree)
		switch {
		case kind == "BOOKMARK" && m["annotations"] != nil:
			out += " initial-events-end"
		case kind == "BOOKMARK": // this server sends more of them, see watch-start
		default:
			out += " " + kind + r.gistOf(o, certain)
		}
	}
	return out
}

func (r *run) gistOf(v tree, certain bool) (out string) {
	m, _ := v["metadata"].(tree)
	if v["kind"] == "Status" {
		details, _ := v["details"].(tree)
		causes, _ := details["causes"].([]any)
		for _, c := range causes {
			cause := c.(tree)
			out += fmt.Sprint(" ", cause["reason"], ";")
		}
		return out + fmt.Sprint(" ", v["reason"], " ", v["message"])
	}
	items, isList := v["items"].([]any)
	if !isList {
		return fmt.Sprint(" ", m["name"])
	}
	rev, _ := m["resourceVersion"].(string)
	out = " at " + r.names.list(rev, certain)
	for _, it := range items {
		im := it.(tree)["metadata"].(tree)
		out += fmt.Sprint(" ", im["name"], "@", r.names.object(im["resourceVersion"].(string)))
	}
	if m["continue"] != nil {
		out += " continue"
	}
	if n := m["remainingItemCount"]; n != nil {
		out += fmt.Sprint(" ", n, " left")
	}
	return out
}
