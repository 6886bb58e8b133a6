package extension_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/server/transcript"
)

// TestTranscripts runs the conversations in testdata; package transcript has their format.
// EXTENSION_SERVER and EXTENSION_TOKEN name another server.
//
// An answer is the object without server-set fields, or the Status. "established NAME",
// "gone PATH" and "await REQUEST WORD" wait. $run is used in API groups. After "show fields" the
// owners of fields are printed too; "show raw" prints bodies as received.
func TestTranscripts(t *testing.T) {
	transcript.Suite{
		Env:   "EXTENSION",
		Serve: func(t *testing.T) string { return serve(t).URL },
		Prepare: func(p *transcript.Peer) {
			c := &conversation{Peer: p}
			p.Print, p.Command = c.print, c.command
		},
	}.Run(t)
}

// conversation is one transcript's state.
type conversation struct {
	*transcript.Peer
	show string
}

// command runs a block that is not a request, and reports whether it was one.
func (c *conversation) command(block string) bool {
	name, arg, _ := strings.Cut(block, " ")
	switch name {
	case "show":
		c.show = arg
	case "established":
		c.await("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+arg, `"InitialNamesAccepted"`)
	case "await":
		at := strings.LastIndex(arg, " ")
		c.await(arg[:at], arg[at+1:])
	case "gone":
		c.await("GET "+arg, "NotFound")
	default:
		return false
	}
	return true
}

// await repeats a request until the answer contains the text, for a minute at most.
func (c *conversation) await(request, text string) {
	c.T.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if strings.Contains(c.Do(request), text) {
			return
		}
		if !c.Ours {
			time.Sleep(100 * time.Millisecond) // in another process there is no signal to wait on
		}
	}
	c.T.Fatalf("%s never says %s", request, text)
}

var (
	hash    = regexp.MustCompile(`"storageVersionHash":"[^"]*"`)
	micros  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	version = regexp.MustCompile(`resourceVersion(\\*"):\\*"\d+\\*"`)
)

func plain(text string) string {
	text = micros.ReplaceAllString(text, "<time>")
	text = hash.ReplaceAllString(text, `"storageVersionHash":"<hash>"`)
	return transcript.Plain(version.ReplaceAllString(text, `resourceVersion${1}:${1}<revision>${1}`))
}

// print shows an object or a Status.
func (c *conversation) print(_ string, body []byte) string {
	var whole map[string]any
	if c.show == "raw" || json.Unmarshal(body, &whole) != nil {
		return plain(string(body))
	}
	if whole["kind"] == "Status" && whole["status"] == "Failure" {
		var s metav1.Status
		json.Unmarshal(body, &s)
		if s.Details != nil && len(s.Details.Causes) > 1 {
			s.Message, _, _ = strings.Cut(s.Message, ": [") // the causes follow, in any order
		}
		return transcript.Status(&s, plain)
	}
	var owners []string
	strip(whole, &owners)
	text, err := json.Marshal(whole)
	if err != nil {
		c.T.Fatal(err)
	}
	if c.show != "fields" {
		owners = nil
	}
	slices.Sort(owners)
	return plain(strings.Join(append([]string{string(text)}, owners...), "\n"))
}

// strip removes server-set fields from an object, and from the items of a list.
func strip(v map[string]any, owners *[]string) {
	if meta, ok := v["metadata"].(map[string]any); ok {
		entries, _ := meta["managedFields"].([]any)
		for _, e := range entries {
			e := e.(map[string]any)
			delete(e, "time")
			text, _ := json.Marshal(e)
			*owners = append(*owners, string(text))
		}
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(meta, name)
		}
	}
	items, _ := v["items"].([]any)
	for _, item := range items {
		if item, ok := item.(map[string]any); ok {
			strip(item, owners)
		}
	}
	rows, _ := v["rows"].([]any)
	for _, r := range rows {
		if o, ok := r.(map[string]any)["object"].(map[string]any); ok {
			strip(o, owners)
		}
	}
}
