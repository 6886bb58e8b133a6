package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notes tell of the settings of the file that have no effect here.
func (c *configuration) notes() (notes []string) {
	var idle []string
	for i := range c.Profiles {
		for _, name := range c.Profiles[i].Plugins.idle() {
			if !slices.Contains(idle, name) {
				idle = append(idle, name)
			}
		}
	}
	if len(idle) > 0 {
		notes = append(notes, fmt.Sprintf("plugins without effect in this scheduler: %s", strings.Join(idle, ", ")))
	}
	var fields []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"parallelism", c.Parallelism != nil}, {"delayCacheUntilActive", c.DelayCacheUntilActive},
		{"clientConnection", c.ClientConnection != nil},
		{"enableProfiling", c.EnableProfiling != nil}, {"enableContentionProfiling", c.EnableContentionProfiling != nil},
	} {
		if f.set {
			fields = append(fields, f.name)
		}
	}
	if len(fields) > 0 {
		notes = append(notes, fmt.Sprintf("settings without effect in this scheduler: %s", strings.Join(fields, ", ")))
	}
	return notes
}

// checkQueueSort checks that all profiles have one order of the queue, which they share.
func (c *configuration) checkQueueSort() (errs []error) {
	first := &c.Profiles[0]
	for i := range c.Profiles[1:] {
		p, path := &c.Profiles[1+i], field.NewPath("profiles").Index(1+i)
		if !reflect.DeepEqual(first.Plugins.QueueSort, p.Plugins.QueueSort) {
			errs = append(errs, field.Invalid(path.Child("plugins", "queueSort"), p.Plugins.QueueSort, "must be the same for all profiles"))
		}
	}
	return errs
}
