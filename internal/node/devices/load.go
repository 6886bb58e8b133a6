package devices

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// maxDevices is the largest number of devices of a model on a node, and of partitions of a device.
const maxDevices = 1024

// Load reads a catalog from a YAML file. Unknown fields and values that the API would refuse are errors.
func Load(file string) (*Catalog, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &Catalog{}
	if err := yaml.UnmarshalStrict(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if c.Failures.Effect == "" {
		c.Failures.Effect = resourcev1.DeviceTaintEffectNoSchedule
	}
	var all checks
	all.catalog(c)
	if len(all) > 0 {
		return nil, fmt.Errorf("%s: %w", file, errors.Join(all...))
	}
	return c, nil
}

// checks are errors of a catalog.
type checks []error

func (e *checks) wrong(path *field.Path, value any, why string) {
	*e = append(*e, field.Invalid(path, value, why))
}

// text checks a value by a rule of Kubernetes.
func (e *checks) text(path *field.Path, value string, rule func(string) []string) {
	if why := rule(value); len(why) > 0 {
		e.wrong(path, value, strings.Join(why, "; "))
	}
}

func (e *checks) catalog(c *Catalog) {
	e.text(field.NewPath("driver"), c.Driver, validation.IsDNS1123Subdomain)
	if c.Class != "" {
		e.text(field.NewPath("class"), c.Class, validation.IsDNS1123Subdomain)
	}
	if name := c.ExtendedResourceName; name != "" {
		e.text(field.NewPath("extendedResourceName"), name, validation.IsQualifiedName)
		if c.Class == "" {
			e.wrong(field.NewPath("extendedResourceName"), name, "needs a class")
		}
	}
	if len(c.Models) == 0 {
		*e = append(*e, field.Required(field.NewPath("models"), "a catalog has at least one"))
	}
	names := map[string]bool{}
	for i := range c.Models {
		path, m := field.NewPath("models").Index(i), &c.Models[i]
		if names[m.Name] {
			*e = append(*e, field.Duplicate(path.Child("name"), m.Name))
		}
		names[m.Name] = true
		e.model(path, m)
	}
	f := field.NewPath("failures")
	if c.Failures.Rate < 0 || c.Failures.Rate > 1 {
		e.wrong(f.Child("rate"), c.Failures.Rate, "must be from 0 to 1")
	}
	effects := []resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone}
	if !slices.Contains(effects, c.Failures.Effect) {
		*e = append(*e, field.NotSupported(f.Child("effect"), c.Failures.Effect, effects))
	}
}

func (e *checks) model(path *field.Path, m *Model) {
	e.named(path, m.Name, m.Count)
	if m.NVLinkSize < 0 {
		e.wrong(path.Child("nvlinkSize"), m.NVLinkSize, "must not be negative")
	}
	e.capacity(path.Child("capacity"), m.Capacity)
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		at := path.Child("attributes").Key(name)
		e.text(at, name, validation.IsCIdentifier)
		if slices.Contains([]string{"model", "index", "profile", "nvlinkDomain"}, name) {
			e.wrong(at, name, "each device has it already")
		}
		if _, ok := attribute(m.Attributes[name]); !ok {
			e.wrong(at, m.Attributes[name], "must be a text, a whole number, true or false")
		}
	}
	names := map[string]bool{"whole": true}
	for i := range m.Partitions {
		at, p := path.Child("partitions").Index(i), &m.Partitions[i]
		if names[p.Name] {
			*e = append(*e, field.Duplicate(at.Child("name"), p.Name))
		}
		names[p.Name] = true
		e.named(at, p.Name, p.Count)
		e.capacity(at.Child("capacity"), p.Capacity)
		if len(p.Capacity) == 0 {
			*e = append(*e, field.Required(at.Child("capacity"), "a partition takes a part of its device's capacity"))
		}
		for name, q := range p.Capacity {
			if whole, ok := m.Capacity[name]; !ok || q.Cmp(whole) > 0 {
				e.wrong(at.Child("capacity").Key(name), q.String(), "the device has less")
			}
		}
	}
}

func (e *checks) named(path *field.Path, name string, count int) {
	e.text(path.Child("name"), name, validation.IsDNS1123Label)
	if count < 1 || count > maxDevices {
		e.wrong(path.Child("count"), count, fmt.Sprintf("must be from 1 to %d", maxDevices))
	}
}

func (e *checks) capacity(path *field.Path, list map[string]resource.Quantity) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		e.text(path.Key(name), name, validation.IsCIdentifier)
		e.text(path.Key(name), name, validation.IsDNS1123Label) // it is the name of a counter, too
		if q := list[name]; q.Sign() <= 0 {
			e.wrong(path.Key(name), q.String(), "must be greater than 0")
		}
	}
}
