package kwok

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/node/stage"
)

// Load reads definitions from files, or from all *.yaml, *.yml and *.json files of directories. An unknown kind is
// an error, so that no definition is silently ignored.
func Load(paths ...string) (*Definitions, error) {
	d := &set{}
	for _, path := range paths {
		files, err := filesAt(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if err := d.read(text); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return of(d), nil
}

// Parse reads definitions from YAML documents.
func Parse(text []byte) (*Definitions, error) {
	d := &set{}
	if err := d.read(text); err != nil {
		return nil, err
	}
	return of(d), nil
}

// of returns definitions that come from files.
func of(files *set) *Definitions {
	files.sort()
	d := &Definitions{}
	d.mu.files = files
	d.now.Store(files)
	return d
}

// FromFiles returns Definitions with those of d that were read from files, and without those that Put has added.
func (d *Definitions) FromFiles() *Definitions {
	if d == nil {
		return &Definitions{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &Definitions{Images: d.Images}
	if files := d.mu.files; files != nil {
		c.mu.files = files
		c.now.Store(files)
	}
	return c
}

func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}

func (d *set) read(text []byte) error {
	docs := utilyaml.NewYAMLReader(newReader(text))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		var t metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &t); err != nil {
			return err
		}
		if t.Kind == "" && t.APIVersion == "" {
			continue // comments alone
		}
		if t.APIVersion != APIVersion {
			return fmt.Errorf("apiVersion %q, kind %q: want %s", t.APIVersion, t.Kind, APIVersion)
		}
		if err := d.add(t.Kind, doc); err != nil {
			return fmt.Errorf("%s: %w", t.Kind, err)
		}
	}
}

func (d *set) add(kind string, doc []byte) error {
	into := func(list *[]definition, read func() (definition, error)) error {
		def, err := read()
		if err == nil {
			*list = append(*list, def)
		}
		return err
	}
	if kind == "Stage" {
		st, err := stage.Parse(doc)
		if err != nil {
			return err
		}
		if d.stages == nil {
			d.stages = map[string]stage.Stages{}
		}
		d.stages[st.Kind] = append(d.stages[st.Kind], st)
		return nil
	}
	if kind == "Metric" {
		m, err := parseMetric(doc)
		if err == nil {
			d.metrics = append(d.metrics, m)
		}
		return err
	}
	switch strings.TrimPrefix(kind, "Cluster") {
	case "Logs":
		return into(&d.logs, func() (definition, error) { return decode[Log](doc, "logs") })
	case "Attach":
		return into(&d.attaches, func() (definition, error) { return decode[Attach](doc, "attaches") })
	case "Exec":
		return into(&d.execs, func() (definition, error) { return decode[Exec](doc, "execs") })
	case "PortForward":
		return into(&d.forwards, func() (definition, error) { return decode[Forward](doc, "forwards") })
	case "ResourceUsage":
		return into(&d.usages, func() (definition, error) { return decode[Usage](doc, "usages") })
	}
	return errors.New("there is no such kind here")
}
