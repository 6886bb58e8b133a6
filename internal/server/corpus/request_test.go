package corpus_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

var headerLine = regexp.MustCompile(`^(Content-Type|Content-Encoding|User-Agent|Accept|Accept-Encoding|If-None-Match|Authorization|Impersonate-[^ :]+|Body|Show): `)

// late matches kinds that take effect some time after they are written.
var late = regexp.MustCompile(`/(customresourcedefinitions|clusterroles|clusterrolebindings|mutatingadmissionpolic\w*|resourcequotas|deviceclasses)`)

// url completes a path below the case's namespace.
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

// do sends a request and prints the answer.
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
	raw, text, shown := false, "", ""
	for headerLine.MatchString(rest) {
		line, more, _ := strings.Cut(rest, "\n")
		k, v, _ := strings.Cut(line, ": ")
		rest = more
		switch k {
		case "Body":
			raw, text = true, r.bytes(v)
		case "Show":
			shown = v
		default:
			v = strings.NewReplacer("$etag", r.etag, "$token", r.token).Replace(r.expand(v))
			if !strings.HasPrefix(k, "Impersonate-") {
				header.Del(k)
			}
			if v != "none" {
				header.Add(k, v)
			}
			raw = raw || k == "Content-Type" && !strings.HasSuffix(v, "+json")
		}
	}
	var sent any
	if text == "" {
		text = r.expand(rest)
	}
	if !raw {
		if sent = r.body(rest); sent != nil {
			data, err := json.Marshal(sent)
			if err != nil {
				r.t.Fatal(err)
			}
			text = string(data)
		}
	}
	resp, answer := r.send(method, r.url(path), header, text)
	code := resp.StatusCode
	if etag := resp.Header.Get("ETag"); etag != "" {
		r.etag = etag
	}
	if !r.g.ours && code < 300 && method != http.MethodGet && late.MatchString(path) {
		time.Sleep(2 * time.Second) // kube-apiserver responds before it takes effect
	}
	base, _ := sent.(tree)
	if method == http.MethodPatch && verb != "APPLY" || method == http.MethodGet || method == http.MethodDelete {
		base = nil
	}
	out := fmt.Sprint(code)
	for _, w := range resp.Header.Values("Warning") {
		out += "\nWarning: " + w
	}
	out += show(shown, resp, answer)
	if strings.HasSuffix(shown, "Body") || strings.HasSuffix(shown, "-") || len(answer) == 0 {
		return r.plain(out)
	}
	printed := r.print(base, asJSON(resp.Header.Get("Content-Type"), answer))
	if shown != "" {
		printed = "\n" + strings.TrimLeft(printed, " ,\n")
	}
	return r.plain(out + printed)
}

func (r *run) send(method, url string, header http.Header, body string) (*http.Response, []byte) {
	r.t.Helper()
	resp, answer, err := r.try(method, url, header, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp, answer
}

// try sends a request and reads the answer to its end.
func (r *run) try(method, url string, header http.Header, body string) (_ *http.Response, answer []byte, err error) {
	req, err := http.NewRequest(method, r.g.base+url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = header
	client := r.g.client
	if header.Get("Authorization") != "" {
		client = r.g.stranger
	} else if r.g.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.g.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	var from io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if from, err = gzip.NewReader(resp.Body); err != nil {
			return nil, nil, err
		}
	}
	answer, err = io.ReadAll(from)
	return resp, answer, err
}

// mustCreate creates an object that every case needs.
func (r *run) mustCreate(path, manifest string) {
	r.t.Helper()
	data, err := json.Marshal(r.parse(manifest))
	if err != nil {
		r.t.Fatal(err)
	}
	resp, answer := r.send("POST", r.url(path), http.Header{"Content-Type": {"application/json"}}, string(data))
	if resp.StatusCode != http.StatusCreated {
		r.t.Fatalf("POST %s: %s %s", path, resp.Status, answer)
	}
}
