package top

import (
	"bytes"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
