package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
)

// requestTimeout is how long an answer may take.
const requestTimeout = 30 * time.Second

// link makes the requests to the server.
type link struct {
	ctx context.Context // the program's
	c   *client.Client
}

// answer is the server's answer to the question with an id.
type answer[T any] struct {
	id   int
	it   T
	err  error
	took time.Duration
}

// ask returns a command that asks a question.
func ask[T any](l *link, id int, question func(ctx context.Context) (T, error)) tea.Cmd {
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(l.ctx, requestTimeout)
		defer stop()
		begun := time.Now()
		it, err := question(ctx)
		return answer[T]{id, it, err, time.Since(begun)}
	}
}

// object names an object of a kind.
type object struct {
	kind            client.APIResource
	namespace, name string
	uid             types.UID
}

func (o object) String() string {
	return strings.ToLower(o.kind.Kind.Kind) + " " + path(o.namespace, o.name)
}

// path is the object's path on the server.
func (o object) path() string { return lives.Collection(o.kind, o.namespace) + "/" + o.name }

// kinds asks for the server's kinds.
func (l *link) kinds(id int) tea.Cmd {
	return ask(l, id, func(ctx context.Context) ([]client.APIResource, error) {
		all, err := l.c.ServerResources(ctx)
		if len(all) > 0 {
			err = nil // the kinds of an API service that does not answer are missing
		}
		return all, err
	})
}

// names is the answer to namespaces.
type names []string

// namespaces asks for the names of the namespaces.
func (l *link) namespaces(id int) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (names, error) {
		list, err := client.Metadata(l.c, corev1.SchemeGroupVersion.WithResource("namespaces"), false).List(ctx)
		var all names
		for _, o := range list.Items {
			all = append(all, o.GetName())
		}
		return all, err
	})
}

// survey asks for everything that is not well.
func (l *link) survey(id int) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (why.Survey, error) { return lives.Survey(ctx, l.c) })
}

// colours are those of texts that other packages write.
var colours = show.Palette{Bold: string(bold), Dim: string(dim), Late: string(yellow), End: endStyle}

// text is an answer in lines. mark is the line to show.
type text struct {
	lines []string
	mark  int
}

// lines splits the text of a printer, which has styles of its own: the program's output passes no other escape sequences.
func lines(print func(out *bytes.Buffer) error) (text, error) {
	var out bytes.Buffer
	err := print(&out)
	harmless := strings.NewReplacer("\t", "    ", "\r", "").Replace(out.String())
	return text{lines: strings.Split(strings.TrimRight(harmless, "\n"), "\n")}, err
}

// explanation asks why an object is in its state.
func (l *link) explanation(id int, o object) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		s, err := lives.Subject(ctx, l.c, o.kind.GVR.GroupResource().String(), o.namespace, o.name)
		if err != nil {
			return text{}, err
		}
		if s.Unknown() {
			return text{lines: []string{o.String() + " does not exist"}}, nil
		}
		return lines(func(out *bytes.Buffer) error { return why.Explain(s).Print(out, colours) })
	})
}

// get reads an object.
func (l *link) get(ctx context.Context, o object) (map[string]any, error) {
	res, err := l.c.REST().Do(ctx, client.Request{Path: o.path()})
	if err != nil {
		return nil, err
	}
	into := map[string]any{}
	return into, json.Unmarshal(res.Body, &into)
}

// identify finds the UID of an object that was named by an event or a problem.
func (l *link) identify(ctx context.Context, o *object) error {
	if o.uid != "" {
		return nil
	}
	it, err := l.get(ctx, *o)
	if err != nil {
		return err
	}
	meta, _ := it["metadata"].(map[string]any)
	uid, _ := meta["uid"].(string)
	o.uid = types.UID(uid)
	return nil
}

// yaml asks for an object's YAML, without the managed fields.
func (l *link) yaml(id int, o object) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		it, err := l.get(ctx, o)
		if err != nil {
			return text{}, err
		}
		if meta, ok := it["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
		return lines(func(out *bytes.Buffer) error {
			doc, err := yaml.Marshal(it)
			out.Write(doc)
			return err
		})
	})
}

// notes asks for the Events about an object.
func (l *link) notes(id int, o object) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		if err := l.identify(ctx, &o); err != nil {
			return text{}, err
		}
		all, err := lives.Notes(ctx, l.c, o.namespace, string(o.uid))
		if err != nil || len(all) == 0 {
			return text{lines: []string{"The server has no Events about " + o.String()}}, err
		}
		var t text
		for _, n := range all {
			s := plain
			if n.Type == "Warning" {
				s = yellow
			}
			line := fmt.Sprintf("%s  %s  %s", n.Time.Local().Format(time.TimeOnly), s.of(clean(n.Type+" "+n.Reason)), clean(n.Message))
			if n.Count > 1 {
				line += fmt.Sprintf(" (%d times)", n.Count)
			}
			t.lines = append(t.lines, line+dim.of("  "+clean(n.Source)))
		}
		return t, nil
	})
}

// containers is the answer to containersOf.
type containers []string

// containersOf asks for the names of a pod's containers, those that start first at the end.
func (l *link) containersOf(id int, pod object) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (all containers, err error) {
		it, err := l.get(ctx, pod)
		spec, _ := it["spec"].(map[string]any)
		for _, field := range []string{"containers", "ephemeralContainers", "initContainers"} {
			list, _ := spec[field].([]any)
			for _, c := range list {
				container, _ := c.(map[string]any)
				if name, ok := container["name"].(string); ok {
					all = append(all, name)
				}
			}
		}
		return all, err
	})
}

// removed is the answer to remove.
type removed struct{ what object }

// remove deletes an object, unless another one has its name by now.
func (l *link) remove(id int, o object) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (removed, error) {
		if err := l.identify(ctx, &o); err != nil {
			return removed{}, err
		}
		body, err := json.Marshal(metav1.DeleteOptions{
			TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
			Preconditions: &metav1.Preconditions{UID: &o.uid},
		})
		if err == nil {
			_, err = l.c.REST().Do(ctx, client.Request{Method: http.MethodDelete, Path: o.path(), Body: body})
		}
		return removed{o}, err
	})
}

var errForgotten = errors.New("the trace no longer has this event")

// livesOf reads lives.
func (l *link) livesOf(ctx context.Context, key string, revision int64) (all []show.Event, err error) {
	rev := strconv.FormatInt(revision, 10)
	q := url.Values{key: {rev}}
	if key == "from" {
		q.Set("to", rev)
	}
	err = lives.Each(ctx, l.c, q, func(_ []byte, e show.Event) error {
		all = append(all, e)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errForgotten
	}
	return all, err
}

// life asks for the life of one event.
func (l *link) life(id int, revision int64) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		all, err := l.livesOf(ctx, "from", revision)
		if err != nil {
			return text{}, err
		}
		return lines(func(out *bytes.Buffer) error { return show.Waterfall(out, all[0], colours, 0) })
	})
}

// maxClimb bounds the search for the root of a tree of causes.
const maxClimb = 100

// tree asks for the whole tree of causes that has an event.
func (l *link) tree(id int, revision int64) tea.Cmd {
	return ask(l, id, func(ctx context.Context) (text, error) {
		root, at := revision, revision
		for range maxClimb {
			all, err := l.livesOf(ctx, "from", at)
			if err != nil && at == revision {
				return text{}, err
			}
			if err != nil {
				break // the trace no longer has the cause
			}
			root = at
			if len(all[0].Causes) == 0 || all[0].Causes[0] == at {
				break
			}
			at = all[0].Causes[0]
		}
		all, err := l.livesOf(ctx, "tree", root)
		if err != nil {
			return text{}, err
		}
		t, err := lines(func(out *bytes.Buffer) error { return show.Tree(out, all, colours, 0) })
		mark := fmt.Sprintf("%d ", revision)
		t.mark = slices.IndexFunc(t.lines, func(line string) bool { return strings.Contains(line, string(dim)+mark) })
		return t, err
	})
}
