package kwok

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/internal/node/stage"
)

// Object identifies an object of the server that replaces a file.
type Object struct{ Kind, Namespace, Name string }

// Put adds an object as a server has it. It takes precedence over the file's object of its kind and name. An
// invalid object is an error, and removes its earlier definition.
func (d *Definitions) Put(key Object, text []byte) error {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	delete(doc, "status") // kwok's own report
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	one := &set{}
	if err := one.add(key.Kind, text); err != nil {
		d.Remove(key)
		return fmt.Errorf("%s %s: %w", key.Kind, key.Name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.objects == nil {
		d.mu.objects = map[Object]*set{}
	}
	d.mu.objects[key] = one
	d.renew()
	return nil
}

// Remove removes an object; the file's object of its name applies again.
func (d *Definitions) Remove(key Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.objects[key] != nil {
		delete(d.mu.objects, key)
		d.renew()
	}
}

// renew makes the next content. d.mu is held.
func (d *Definitions) renew() {
	next := &set{stages: map[string]stage.Stages{}}
	next.join(d.mu.files, func(kind, namespace, name string) bool {
		return d.mu.objects[Object{kind, namespace, name}] == nil
	})
	for _, one := range d.mu.objects {
		next.join(one, func(string, string, string) bool { return true })
	}
	next.sort()
	d.now.Store(next)
}

// join adds the entries of another set that keep accepts.
func (d *set) join(o *set, keep func(kind, namespace, name string) bool) {
	if o == nil {
		return
	}
	add := func(to *[]definition, from []definition) {
		for _, def := range from {
			if keep(def.Kind, def.Namespace, def.Name) {
				*to = append(*to, def)
			}
		}
	}
	add(&d.logs, o.logs)
	add(&d.attaches, o.attaches)
	add(&d.execs, o.execs)
	add(&d.forwards, o.forwards)
	add(&d.usages, o.usages)
	for _, m := range o.metrics {
		if keep(m.Kind, "", m.Name) {
			d.metrics = append(d.metrics, m)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(o.stages)) {
		for _, s := range o.stages[kind] {
			if keep("Stage", "", s.Name) {
				d.stages[kind] = append(d.stages[kind], s)
			}
		}
	}
}
