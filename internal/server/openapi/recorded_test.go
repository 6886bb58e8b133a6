package openapi_test

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"

	table "fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/openapi"
)

// TestOperations compares every operation with the document of kube-apiserver 1.36.3 with CBORServingAndStorage:
// its ID, action and kind, its parameters, request bodies and responses. To record the document again:
//
//	OPENAPI_SERVER=https://127.0.0.1:6443 OPENAPI_TOKEN=... go test ./internal/server/openapi -run TestOperations
func TestOperations(t *testing.T) {
	const file = "testdata/operations.txt"
	if base := os.Getenv("OPENAPI_SERVER"); base != "" {
		insecure := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // certificates are not under test
		got := operations(t, &http.Client{Transport: insecure}, base, os.Getenv("OPENAPI_TOKEN"))
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	h := openapi.New(builtin.Resources(), table.Scheme())
	h.CBOR = true
	srv := httptest.NewServer(h)
	defer srv.Close()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := lines(string(want)), lines(operations(t, srv.Client(), srv.URL, ""))
	for _, l := range slices.Sorted(maps.Keys(theirs)) {
		if !ours[l] {
			t.Errorf("not here: %s", l)
		}
	}
	for _, l := range slices.Sorted(maps.Keys(ours)) {
		if !theirs[l] {
			t.Errorf("only here: %s", l)
		}
	}
}

// differ lists the kinds served by only one of the two.
var differ = []string{"storagemigration.k8s.io", "/clustertrustbundles", "/podcertificaterequests", "/devicetaintrules"}

// lines returns the lines of a transcript, with the names of sets replaced by their contents.
func lines(text string) map[string]bool {
	all, sets := map[string]bool{}, strings.NewReplacer()
	var pairs []string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if name, what, ok := strings.Cut(l, " = "); ok {
			pairs = append(pairs, name+";", what+";")
			sets = strings.NewReplacer(pairs...)
			continue
		}
		all[sets.Replace(l)] = true
	}
	return all
}

// operations returns a transcript of all operations that a server describes. Sets of words shared by many
// operations are written once, under a name.
func operations(t *testing.T, client *http.Client, base, token string) string {
	get := func(at string, into any) {
		req, err := http.NewRequest("GET", base+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil {
			err = json.Unmarshal(body, into)
		}
		if err != nil {
			t.Fatalf("%s: %s %v", at, resp.Status, err)
		}
	}
	var index struct{ Paths map[string]any }
	get("/openapi/v3", &index)
	sets := map[string]string{}
	var out bytes.Buffer
	set := func(words []string) string {
		slices.Sort(words)
		text := cmp.Or(strings.Join(words, " "), "none")
		if sets[text] == "" {
			sets[text] = fmt.Sprintf("%%%d", len(sets))
			fmt.Fprintf(&out, "%s = %s\n", sets[text], text)
		}
		return sets[text] + ";"
	}
	for _, doc := range slices.Sorted(maps.Keys(index.Paths)) {
		var d spec3.OpenAPI
		get("/openapi/v3/"+doc, &d)
		for _, at := range slices.Sorted(maps.Keys(d.Paths.Paths)) {
			if slices.ContainsFunc(differ, func(s string) bool { return strings.Contains(at, s) }) {
				continue
			}
			p := d.Paths.Paths[at]
			methods := map[string]*spec3.Operation{
				"GET": p.Get, "PUT": p.Put, "POST": p.Post, "PATCH": p.Patch, "DELETE": p.Delete, "HEAD": p.Head, "OPTIONS": p.Options,
			}
			for _, method := range slices.Sorted(maps.Keys(methods)) {
				if op := methods[method]; op != nil {
					line := method + " " + at + " " + describe(op, p.Parameters, set)
					out.WriteString(line + "\n")
				}
			}
		}
	}
	return out.String()
}

// describe formats an operation in one line.
func describe(op *spec3.Operation, shared []*spec3.Parameter, set func([]string) string) string {
	var parameters []string
	for _, p := range slices.Concat(shared, op.Parameters) {
		parameters = append(parameters, fmt.Sprintf("%s/%s:%s,%v", p.In, p.Name, strings.Join(p.Schema.Type, ""), p.Required))
	}
	gvk, _ := json.Marshal(op.Extensions["x-kubernetes-group-version-kind"])
	line := fmt.Sprintf("%s %v %s %v ? %s", op.OperationId, op.Extensions["x-kubernetes-action"], gvk, op.Tags, set(parameters))
	if op.RequestBody != nil {
		line += fmt.Sprintf(" < %s required=%v", media(op.RequestBody.Content, set), op.RequestBody.Required)
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses.StatusCodeResponses)) {
		line += fmt.Sprintf(" > %d %s", code, media(op.Responses.StatusCodeResponses[code].Content, set))
	}
	return line
}

// media formats the media types of a body and its definition.
func media(content map[string]*spec3.MediaType, set func([]string) string) string {
	if len(content) == 0 {
		return "-"
	}
	of := ""
	for _, m := range content {
		of = m.Schema.Ref.String() + strings.Join(m.Schema.Type, "")
	}
	of = of[strings.LastIndexByte(of, '/')+1:]
	return of + " as " + set(slices.Collect(maps.Keys(content)))
}
