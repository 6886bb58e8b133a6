package corpus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

var headerLine = regexp.MustCompile(`^(Content-Type|User-Agent|Accept|Impersonate-User|Impersonate-Group): `)

// url makes a path below the case's namespace a whole one.
func (r *run) url(path string) string {
	path = r.expand(path)
	if strings.HasPrefix(path, "/") {
		return path
	}
	parts := strings.SplitN(path, "/", 2)
	if parts[0] == "v1" {
		return "/api/v1/namespaces/" + r.ns + "/" + parts[1]
	}
	version, rest, _ := strings.Cut(parts[1], "/")
	return "/apis/" + parts[0] + "/" + version + "/namespaces/" + r.ns + "/" + rest
}

// do sends a request and prints what came back.
func (r *run) do(request string) string {
	r.t.Helper()
	head, rest, _ := strings.Cut(request, "\n")
	verb, path, _ := strings.Cut(head, " ")
	header := http.Header{"User-Agent": {"corpus/1.0 (linux)"}, "Accept": {"application/json"}}
	method := verb
	switch verb {
	case "APPLY":
		method = http.MethodPatch
		header.Set("Content-Type", "application/apply-patch+yaml")
	case http.MethodPatch:
		header.Set("Content-Type", "application/merge-patch+json")
	default:
		header.Set("Content-Type", "application/json")
	}
	raw := false
	for headerLine.MatchString(rest) {
		line, more, _ := strings.Cut(rest, "\n")
		k, v, _ := strings.Cut(line, ": ")
		header.Set(k, v)
		raw = raw || k == "Content-Type" && !strings.HasSuffix(v, "+json")
		rest = more
	}
	var sent any
	text := r.expand(rest)
	if !raw {
		if sent = r.body(rest); sent != nil {
			data, err := json.Marshal(sent)
			if err != nil {
				r.t.Fatal(err)
			}
			text = string(data)
		}
	}
	code, warnings, answer := r.send(method, r.url(path), header, text)
	if !r.g.ours && code < 300 && method != http.MethodGet && strings.Contains(path, "/customresourcedefinitions") {
		time.Sleep(2 * time.Second) // kube-apiserver answers before a definition has taken effect
	}
	base, _ := sent.(tree)
	if method == http.MethodPatch && verb != "APPLY" || method == http.MethodGet || method == http.MethodDelete {
		base = nil
	}
	out := fmt.Sprint(code)
	for _, w := range warnings {
		out += "\nWarning: " + w
	}
	return r.plain(out + r.print(base, answer))
}

func (r *run) send(method, url string, header http.Header, body string) (code int, warnings []string, answer []byte) {
	r.t.Helper()
	code, warnings, answer, err := r.try(method, url, header, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return code, warnings, answer
}

func (r *run) try(method, url string, header http.Header, body string) (code int, warnings []string, answer []byte, err error) {
	req, err := http.NewRequest(method, r.g.base+url, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header = header
	if r.g.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.g.token)
	}
	resp, err := r.g.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Values("Warning"), answer, err
}

// mustCreate makes what every case needs.
func (r *run) mustCreate(path, manifest string) {
	r.t.Helper()
	data, err := json.Marshal(r.parse(manifest))
	if err != nil {
		r.t.Fatal(err)
	}
	code, _, answer := r.send("POST", r.url(path), http.Header{"Content-Type": {"application/json"}}, string(data))
	if code != http.StatusCreated {
		r.t.Fatalf("POST %s: %d %s", path, code, answer)
	}
}
