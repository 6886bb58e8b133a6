package top

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/why"
)

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
